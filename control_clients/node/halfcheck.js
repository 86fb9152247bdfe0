// Starts halfcheck's broker for a test, and gives it orders.
//
//   const broker = await start({ clock: 'virtual', 'grpc-port': 0 });
//   await broker.order('topic', { name: 'Orders', type: 'TRANSACTION' });
//   await broker.order('fault', { fault: 'lose_end', key: 'order-7' });
//   const { broken } = await broker.stop();
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

class Broker {
  #token;
  #process;

  constructor(addresses, process) {
    // Of broker and name server, of the port for gRPC clients (undefined without one), and of the control port.
    this.address = addresses.address;
    this.grpcAddress = addresses.grpc_address;
    this.control = addresses.control;
    this.#token = addresses.token;
    this.#process = process;
  }

  // Gives an order of docs/broker.md, and resolves to its answer when its effect is there; rejects with the broker's line.
  async order(name, takes = {}) {
    const answer = await fetch(`http://${this.control}/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(takes),
    });
    const content = await answer.json();
    if (!answer.ok) throw new Error(content.error);
    return content;
  }

  // Waits for one of { producer }, { rounds } and { delivered }; rejects if that does not come.
  async wait(what) {
    const answer = await this.order('wait', what);
    if (!answer.came) throw new Error(`${JSON.stringify(what)} did not come; the broker knows ${JSON.stringify(answer)}`);
  }

  // Stops the broker; the verdict on its run. That of `halfcheck broker --exec` is stopped, too.
  async stop() {
    const ended = this.#process && this.#process.exitCode === null ? once(this.#process, 'exit') : undefined;
    const verdict = await this.order('stop');
    await ended;
    return verdict;
  }
}

// Options are those of `halfcheck broker`, such as { profile: '5.3.3', clock: 'virtual', 'grpc-port': 0 }. Under
// `halfcheck broker --exec`, that broker is taken, whatever they are.
async function start(options = {}) {
  const given = process.env;
  if (given.HALFCHECK_CONTROL) {
    const addresses = { address: given.HALFCHECK_ADDRESS, grpc_address: given.HALFCHECK_GRPC_ADDRESS };
    return new Broker({ ...addresses, control: given.HALFCHECK_CONTROL, token: given.HALFCHECK_TOKEN });
  }
  const words = Object.entries({ port: 0, ...options }).flatMap(([ name, value ]) => [ `--${name}`, String(value) ]);
  const program = given.HALFCHECK ?? 'halfcheck';
  const broker = spawn(program, [ 'broker', ...words, '--json', '--exit-with-parent' ], { stdio: [ 'ignore', 'pipe', 'inherit' ] });
  const lines = readline.createInterface({ input: broker.stdout });
  const first = await Promise.race([ once(lines, 'line'), once(lines, 'close'), once(broker, 'error') ]);
  if (typeof first[0] !== 'string') throw new Error(`${program} broker did not start: ${first[0] ?? 'it says why on stderr'}`);
  return new Broker(JSON.parse(first[0]), broker);
}

module.exports = { Broker, start };
