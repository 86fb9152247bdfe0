// Starts halfcheck's broker for a test, and gives it orders.
//
//   const broker = await start({ clock: 'virtual', 'grpc-port': 0 });
//   await broker.order('topic', { name: 'Orders', type: 'TRANSACTION' });
//   await broker.order('fault', { fault: 'lose_end', key: 'order-7' });
//   const { broken } = await broker.stop();
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

const OF_EXEC = 'the broker is that of halfcheck broker --exec, and all tests have it; its verdict comes behind the command. '
  + 'Ask for state(key) here, or run the test without --exec';

class Broker {
  #token;
  #process;
  #isStopped = false;
  #ordered = new Set();

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
    if (typeof content.ordered === 'number') this.#ordered.add(content.ordered);
    return content;
  }

  // Waits as the order does, for one of { producer }, { rounds }, { delivered } and { consumed, group }; rejects if that
  // does not come.
  async wait(what) {
    const answer = await this.order('wait', what);
    if (!answer.came) throw new Error(answer.says);
  }

  // The state of the transaction whose message has a key, as of the order transactions.
  async state(key) {
    const { transactions } = await this.order('transactions', { key });
    if (transactions.length !== 1) throw new Error(`${transactions.length} transactions have the key ${key}; one was expected`);
    return transactions[0].state;
  }

  // Stops the broker when op messages that wait in memory are written; the verdict on its run. Rejects if there is none,
  // if a fault befell nothing, and under `halfcheck broker --exec`.
  async stop() {
    if (!this.#process) throw new Error(`stop: ${OF_EXEC}`);
    const ended = this.#ended();
    const verdict = await this.order('stop', { settles: true });
    this.#isStopped = true;
    await ended;
    this.#requireUsed(verdict);
    if (verdict.no_verdict) throw new Error(`no verdict: ${verdict.no_verdict}`);
    return verdict;
  }

  // Ends the broker, if it runs and was started here; rejects if a fault that was ordered here befell nothing.
  async close() {
    if (this.#isStopped) return;
    this.#isStopped = true;
    try {
      this.#requireUsed(await this.order('status'));
    } finally {
      const ended = this.#ended();
      this.#process?.kill();
      await ended;
    }
  }

  #ended() {
    return this.#process && this.#process.exitCode === null ? once(this.#process, 'exit') : undefined;
  }

  #requireUsed(answer) {
    const unused = answer.unused_faults.filter(fault => this.#ordered.has(fault.number));
    if (unused.length) throw new Error(unused.map(fault => fault.says).join('; '));
  }
}

// Options are those of `halfcheck broker`, such as { profile: '5.3.3', clock: 'virtual', 'grpc-port': 0 }. Under
// `halfcheck broker --exec`, that broker is taken; rejects if it has other ones.
async function start(options = {}) {
  const given = process.env;
  if (given.HALFCHECK_CONTROL) {
    requireOfExec(given, options);
    const addresses = { address: given.HALFCHECK_ADDRESS, grpc_address: given.HALFCHECK_GRPC_ADDRESS };
    return new Broker({ ...addresses, control: given.HALFCHECK_CONTROL, token: given.HALFCHECK_TOKEN });
  }
  const words = Object.entries({ port: 0, ...options }).flatMap(([ name, value ]) => [ `--${name}`, String(value) ]);
  const program = given.HALFCHECK ?? 'halfcheck';
  const broker = spawn(program, [ 'broker', ...words, '--json', '--exit-with-parent' ], { stdio: [ 'ignore', 'pipe', 'pipe' ] });
  let complaints = '';
  broker.stderr.on('data', data => { process.stderr.write(data); complaints += data; });
  const lines = readline.createInterface({ input: broker.stdout });
  const failed = once(broker, 'close').then(() => []);
  const first = await Promise.race([ once(lines, 'line'), failed, once(broker, 'error') ]).catch(problem => [ problem ]);
  if (first[0] instanceof Error) throw new Error(`${first[0].message}: pip install halfcheck, or set HALFCHECK=/path/to/halfcheck`);
  if (typeof first[0] !== 'string') throw new Error(`${program} broker did not start: ${complaints.trim()}`);
  return new Broker(JSON.parse(first[0]), broker);
}

function requireOfExec(given, options) {
  for (const variable of [ 'HALFCHECK_ADDRESS', 'HALFCHECK_TOKEN', 'HALFCHECK_OPTIONS' ]) {
    const remedy = 'halfcheck broker --exec sets both: pass on all of HALFCHECK_*, or none';
    if (!given[variable]) throw new Error(`HALFCHECK_CONTROL is set and ${variable} is not; ${remedy}`);
  }
  const has = JSON.parse(given.HALFCHECK_OPTIONS);
  for (const [ name, value ] of Object.entries(options)) {
    const its = has[`--${name}`];
    if (its === null || its === String(value)) continue;
    const itsOwn = its === undefined ? 'has none' : `has ${its}`;
    throw new Error(`this test asks for --${name} ${value}, the broker of --exec ${itsOwn}; give it to --exec, or run the test without`);
  }
}

module.exports = { Broker, start };
