//! The scenario's client with the crate rocketmq: `grpc-scenario-client HOST:PORT`.
//!
//! The crate has no push consumer: what fails is not acknowledged here, and comes again when its invisible time is over.
use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rocketmq::conf::{ClientOption, ProducerOption, SimpleConsumerOption};
use rocketmq::model::common::{FilterExpression, FilterType};
use rocketmq::model::message::{MessageBuilder, MessageView};
use rocketmq::model::transaction::{Transaction, TransactionResolution};
use rocketmq::{Producer, SimpleConsumer};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::JoinHandle;

const TOPICS: [&str; 2] = ["Orders", "Plain"];
const INVISIBLE: Duration = Duration::from_secs(10);
/// How long a late commit waits, so that the check's answer comes first.
const BEHIND_THE_ANSWER: Duration = Duration::from_millis(500);

type Seen = Mutex<HashMap<String, u32>>;

fn say(words: &[&str]) {
    println!("{}", words.join("\t"));
}

fn counted(seen: &Seen, key: &str) -> u32 {
    let mut table = seen.lock().unwrap();
    let count = table.entry(key.to_string()).or_insert(0);
    *count += 1;
    *count
}

/// At which check a transaction is committed.
fn known_at(key: &str) -> u32 {
    match key {
        "checked-twice" => 2,
        "never-known" => u32::MAX,
        _ => 1,
    }
}

fn check(seen: &Seen, message: MessageView) -> TransactionResolution {
    let key = &message.keys()[0];
    if counted(seen, key) >= known_at(key) {
        say(&["checked", key, "commit"]);
        match key.as_str() {
            "throws" => panic!("as ordered"),
            "hangs" => loop {
                std::thread::park();
            },
            _ => TransactionResolution::COMMIT,
        }
    } else {
        say(&["checked", key, "unknown"]);
        TransactionResolution::UNKNOWN
    }
}

/// Whether a message is taken; else it comes again.
fn consume(seen: &Seen, message: &MessageView) -> bool {
    let key = &message.keys()[0];
    let count = counted(seen, key);
    say(&["consumed", key, &message.delivery_attempt().to_string()]);
    !(key == "poison" || key == "failing" && count == 1)
}

async fn read(consumer: Arc<SimpleConsumer>, topic: &'static str, seen: Arc<Seen>) {
    let everything = FilterExpression::new(FilterType::Tag, "*");
    loop {
        match consumer.receive_with(topic, &everything, 16, INVISIBLE).await {
            Ok(messages) => {
                for message in messages {
                    if consume(&seen, &message) {
                        if let Err(error) = consumer.ack(&message).await {
                            eprintln!("ack: {error:?}");
                        }
                    }
                }
            }
            Err(error) => {
                eprintln!("receive: {error:?}");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Send a message whose body is its key, plainly or in a transaction, and end that as is said.
async fn send(producer: &Producer, checks: &Seen, words: &[&str]) -> Result<(), Failure> {
    let (topic, key, end) = (words[1], words[2], words[3]);
    let body = key.as_bytes().to_vec();
    if end == "plain" {
        let message = MessageBuilder::builder().set_topic(topic).set_body(body).set_tag("scenario").set_keys(vec![key]);
        producer.send(message.build()?).await?;
        return Ok(());
    }
    let message = MessageBuilder::transaction_message_builder(topic, body).set_tag("scenario").set_keys(vec![key]);
    let transaction = producer.send_transaction_message(message.build()?).await?;
    match end {
        "commit" => transaction.commit().await?,
        "rollback" => transaction.rollback().await?,
        "late" => {
            while !checks.lock().unwrap().contains_key(key) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            tokio::time::sleep(BEHIND_THE_ANSWER).await;
            transaction.commit().await?
        }
        _ => (),
    }
    Ok(())
}

type Failure = Box<dyn std::error::Error>;

/// A producer, and the tasks of a consumer.
async fn started(address: &str, checks: Arc<Seen>, deliveries: Arc<Seen>) -> Result<(Producer, Vec<JoinHandle<()>>), Failure> {
    let client = || {
        let mut option = ClientOption::default();
        option.set_access_url(address);
        option.set_enable_tls(false);
        // It is the deadline, too, and the proxy takes none of less than 5 s.
        option.set_long_polling_timeout(Duration::from_secs(6));
        option
    };
    let mut option = ProducerOption::default();
    option.set_topics(TOPICS.to_vec());
    let checker = Box::new(move |_, message| check(&checks, message));
    let mut producer = Producer::new_transaction_producer(option, client(), checker)?;
    producer.start().await?;
    let mut option = SimpleConsumerOption::default();
    option.set_topics(TOPICS.to_vec());
    option.set_consumer_group("readers");
    let mut consumer = SimpleConsumer::new(option, client())?;
    consumer.start().await?;
    let consumer = Arc::new(consumer);
    let reading = TOPICS.map(|topic| tokio::spawn(read(consumer.clone(), topic, deliveries.clone())));
    Ok((producer, reading.into()))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = env::args().nth(1).expect("HOST:PORT");
    let (checks, deliveries) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let (mut producer, mut reading) = started(&address, checks.clone(), deliveries.clone()).await?;
    say(&["ready"]);
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Some(order) = orders.next_line().await? {
        if order == "end" {
            break;
        }
        if order == "renew" {
            reading.iter().for_each(JoinHandle::abort);
            (producer, reading) = started(&address, checks.clone(), deliveries.clone()).await?;
            say(&["done", &order]);
            continue;
        }
        match send(&producer, &checks, &order.split(' ').collect::<Vec<_>>()).await {
            Ok(()) => say(&["done", &order]),
            Err(error) => say(&["failed", &order, &error.to_string().replace('\n', " ")]),
        }
    }
    producer.shutdown().await?;
    say(&["done", "end"]);
    Ok(())
}
