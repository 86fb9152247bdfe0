// The scenario's client with rocketmq-client-nodejs: node client.js HOST:PORT.
const readline = require('node:readline');
const { ConsumeResult, Producer, PushConsumer } = require('rocketmq-client-nodejs');

// The package does not export the protocol's TransactionResolution.
const UNKNOWN = 0;
const COMMIT = 1;
// At which check a transaction is committed; at the first if nothing is said.
const KNOWN_AT = { 'checked-twice': 2, 'never-known': Infinity };

const say = (...words) => process.stdout.write(`${words.join('\t')}\n`);
const checks = {};
const deliveries = {};
// How long a late commit waits, so that the check's answer comes first.
const BEHIND_THE_ANSWER_MS = 500;
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const counted = (table, key) => (table[key] = (table[key] ?? 0) + 1);

async function check(message) {
  const [ key ] = message.keys;
  const seen = counted(checks, key);
  const isKnown = seen >= (KNOWN_AT[key] ?? 1);
  say('checked', key, isKnown ? 'commit' : 'unknown');
  if (key === 'throws') throw new Error('as ordered');
  if (key === 'hangs') await new Promise(() => {});
  return isKnown ? COMMIT : UNKNOWN;
}

async function consume(message) {
  const [ key ] = message.keys;
  const seen = counted(deliveries, key);
  say('consumed', key, message.deliveryAttempt);
  return key === 'poison' || (key === 'failing' && seen === 1) ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
}

// A message whose body is its key, plainly or in a transaction, which is ended as is said.
async function send(producer, topic, key, end) {
  const message = { topic, tag: 'scenario', keys: [ key ], body: Buffer.from(key) };
  if (end === 'plain') {
    await producer.send(message);
    return;
  }
  const transaction = producer.beginTransaction();
  await producer.send(message, transaction);
  if (end === 'late') {
    while (!checks[key]) await pause(20);
    await pause(BEHIND_THE_ANSWER_MS);
  }
  if (end === 'commit' || end === 'late') await transaction.commit();
  if (end === 'rollback') await transaction.rollback();
}

async function main(endpoints) {
  const common = { endpoints, namespace: '', requestTimeout: 5000 };
  const producer = new Producer({ ...common, topics: [ 'Orders', 'Plain' ], checker: { check } });
  await producer.startup();
  const consumer = new PushConsumer({
    ...common,
    consumerGroup: 'readers',
    subscriptions: new Map([ [ 'Orders', '*' ], [ 'Plain', '*' ] ]),
    messageListener: { consume },
  });
  await consumer.startup();
  say('ready');
  for await (const order of readline.createInterface({ input: process.stdin })) {
    if (order === 'end') break;
    try {
      await send(producer, ...order.split(' ').slice(1));
      say('done', order);
    } catch (problem) {
      say('failed', order, String(problem).replace(/\s+/g, ' '));
    }
  }
  await consumer.shutdown();
  await producer.shutdown();
  say('done', 'end');
  process.exit(0);
}

main(process.argv[2]);
