// The scenario's client with rocketmq-clients for Go: client HOST:PORT.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	rmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/apache/rocketmq-clients/golang/v5/credentials"
)

// knownAt is at which check a transaction is committed; at the first if nothing is said.
var knownAt = map[string]int{"checked-twice": 2, "never-known": math.MaxInt}

var (
	lock       sync.Mutex
	checks     = map[string]int{}
	deliveries = map[string]int{}
)

// behindTheAnswer is how long a late commit waits, so that the check's answer comes first.
const behindTheAnswer = 500 * time.Millisecond

func say(words ...string) {
	lock.Lock()
	defer lock.Unlock()
	fmt.Println(strings.Join(words, "\t"))
}

func counted(table map[string]int, key string) int {
	lock.Lock()
	defer lock.Unlock()
	table[key]++
	return table[key]
}

func isChecked(key string) bool {
	lock.Lock()
	defer lock.Unlock()
	return checks[key] > 0
}

func check(message *rmq.MessageView) rmq.TransactionResolution {
	key := message.GetKeys()[0]
	if counted(checks, key) >= max(knownAt[key], 1) {
		say("checked", key, "commit")
		switch key {
		case "throws":
			panic("as ordered")
		case "hangs":
			select {}
		}
		return rmq.COMMIT
	}
	say("checked", key, "unknown")
	return rmq.UNKNOWN
}

func consume(message *rmq.MessageView) rmq.ConsumerResult {
	key := message.GetKeys()[0]
	seen := counted(deliveries, key)
	say("consumed", key, fmt.Sprint(message.GetDeliveryAttempt()))
	if key == "poison" || key == "failing" && seen == 1 {
		return rmq.FAILURE
	}
	return rmq.SUCCESS
}

// send sends a message whose body is its key, plainly or in a transaction, and ends that as is said.
func send(producer rmq.Producer, topic, key, end string) error {
	message := &rmq.Message{Topic: topic, Body: []byte(key)}
	message.SetTag("scenario")
	message.SetKeys(key)
	if end == "plain" {
		_, err := producer.Send(context.Background(), message)
		return err
	}
	transaction := producer.BeginTransaction()
	if _, err := producer.SendWithTransaction(context.Background(), message, transaction); err != nil {
		return err
	}
	switch end {
	case "commit":
		return transaction.Commit()
	case "late":
		for !isChecked(key) {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(behindTheAnswer)
		return transaction.Commit()
	case "rollback":
		return transaction.RollBack()
	}
	return nil
}

func started(address string) (rmq.Producer, rmq.PushConsumer) {
	config := func(group string) *rmq.Config {
		return &rmq.Config{Endpoint: address, ConsumerGroup: group, Credentials: &credentials.SessionCredentials{}}
	}
	producer, err := rmq.NewProducer(config(""), rmq.WithTopics("Orders", "Plain"),
		rmq.WithTransactionChecker(&rmq.TransactionChecker{Check: check}))
	require(err)
	require(producer.Start())
	consumer, err := rmq.NewPushConsumer(config("readers"),
		rmq.WithPushAwaitDuration(5*time.Second),
		rmq.WithPushSubscriptionExpressions(map[string]*rmq.FilterExpression{"Orders": rmq.SUB_ALL, "Plain": rmq.SUB_ALL}),
		rmq.WithPushMessageListener(&rmq.FuncMessageListener{Consume: consume}))
	require(err)
	require(consumer.Start())
	return producer, consumer
}

func main() {
	rmq.EnableSsl = false
	producer, consumer := started(os.Args[1])
	say("ready")
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() && orders.Text() != "end" {
		var err error
		if words := strings.Fields(orders.Text()); words[0] == "renew" {
			consumer.GracefulStop()
			producer.GracefulStop()
			producer, consumer = started(os.Args[1])
		} else {
			err = send(producer, words[1], words[2], words[3])
		}
		if err != nil {
			say("failed", orders.Text(), strings.Join(strings.Fields(err.Error()), " "))
		} else {
			say("done", orders.Text())
		}
	}
	consumer.GracefulStop()
	producer.GracefulStop()
	say("done", "end")
}

func require(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
