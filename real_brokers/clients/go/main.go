// The Go client with the scenario that ScenarioClient.java has: the same arguments, commands and events.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

const topic = "Orders"

type plan struct {
	phase, key, local, checks string
	failures                  int
}

var (
	plans  []plan
	byKey  = map[string]plan{}
	counts = map[string]int{}
	lock   sync.Mutex
	beats  int
)

func say(event, key, more string) {
	lock.Lock()
	defer lock.Unlock()
	fmt.Printf("%s\t%s\t%s\n", event, key, more)
}

func keyOf(body []byte) string { return strings.SplitN(string(body), "|", 2)[0] }

func stateOf(word string) primitive.LocalTransactionState {
	switch word {
	case "COMMIT_MESSAGE":
		return primitive.CommitMessageState
	case "ROLLBACK_MESSAGE":
		return primitive.RollbackMessageState
	}
	return primitive.UnknowState
}

// ordered is the property that says how a transaction of an order of its own is to end.
const ordered = "end"

// behindTheAnswer is how long a late commit waits, so that the check's answer comes first.
const behindTheAnswer = 500 * time.Millisecond

type planned struct{}

func (planned) ExecuteLocalTransaction(message *primitive.Message) primitive.LocalTransactionState {
	switch message.GetProperty(ordered) {
	case "commit":
		return primitive.CommitMessageState
	case "rollback":
		return primitive.RollbackMessageState
	case "leave":
		return primitive.UnknowState
	case "late":
		for !isChecked(message.GetKeys()) {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(behindTheAnswer)
		return primitive.CommitMessageState
	}
	return stateOf(byKey[message.GetKeys()].local)
}

func (planned) CheckLocalTransaction(message *primitive.MessageExt) primitive.LocalTransactionState {
	key := keyOf(message.Body)
	answers := []string{"COMMIT_MESSAGE"}
	if one, isPlanned := byKey[key]; isPlanned {
		answers = strings.Split(one.checks, ",")
	}
	lock.Lock()
	counts[key]++
	check := counts[key]
	lock.Unlock()
	answer := answers[min(check, len(answers))-1]
	say("checked", key, answer)
	switch key {
	case "throws":
		panic("as ordered")
	case "hangs":
		select {}
	}
	return stateOf(answer)
}

func isChecked(key string) bool {
	lock.Lock()
	defer lock.Unlock()
	return counts[key] > 0
}

func read(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		columns := strings.Fields(line)
		if len(columns) != 5 || strings.HasPrefix(columns[0], "#") {
			continue
		}
		failures, _ := strconv.Atoi(columns[4])
		one := plan{columns[0], columns[1], columns[2], columns[3], failures}
		plans = append(plans, one)
		byKey[one.key] = one
	}
}

func messageOf(key string) *primitive.Message {
	return primitive.NewMessage(topic, []byte(key+"|an order")).WithTag("paid").WithKeys([]string{key})
}

func send(half rocketmq.TransactionProducer, plain rocketmq.Producer, phase string) error {
	for _, one := range plans {
		if one.phase != phase {
			continue
		}
		if one.local == "PLAIN" {
			sent, err := plain.SendSync(context.Background(), messageOf(one.key))
			if err != nil {
				return err
			}
			say("sent", one.key, statusOf(sent.Status))
			continue
		}
		sent, err := half.SendMessageInTransaction(context.Background(), messageOf(one.key))
		if err != nil {
			return err
		}
		say("sent", one.key, statusOf(sent.Status))
	}
	return nil
}

// sendOne sends what an order of its own names; orders and answers are those of the clients in grpc.
func sendOne(half rocketmq.TransactionProducer, words []string) error {
	message := primitive.NewMessage(words[1], []byte(words[2]+"|an order")).WithTag("paid").WithKeys([]string{words[2]})
	message.WithProperty(ordered, words[3])
	sent, err := half.SendMessageInTransaction(context.Background(), message)
	if err == nil {
		say("sent", words[2], statusOf(sent.Status))
	}
	return err
}

func statusOf(status primitive.SendStatus) string {
	if status == primitive.SendOK {
		return "SEND_OK"
	}
	return fmt.Sprint(status)
}

func consume(names []string, kind string) (rocketmq.PushConsumer, error) {
	options := []consumer.Option{
		consumer.WithGroupName("group-" + kind),
		consumer.WithInstance("consumer-" + kind),
		consumer.WithNsResolver(primitive.NewPassthroughResolver(names)),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithMaxReconsumeTimes(2),
	}
	if kind == "broadcast" {
		options = append(options, consumer.WithConsumerModel(consumer.BroadCasting))
	}
	if kind == "orderly" {
		options = append(options, consumer.WithConsumerOrder(true))
	}
	push, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return nil, err
	}
	tag := "*"
	if kind == "tagged" {
		tag = "unpaid"
	}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: tag}
	listener := func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		fails := false
		for _, message := range messages {
			key := keyOf(message.Body)
			say("consumed", key, fmt.Sprintf("%s %d", kind, message.ReconsumeTimes))
			fails = fails || kind == "cluster" && int(message.ReconsumeTimes) < byKey[key].failures
		}
		if fails {
			return consumer.ConsumeRetryLater, nil
		}
		return consumer.ConsumeSuccess, nil
	}
	if err := push.Subscribe(topic, selector, listener); err != nil {
		return nil, err
	}
	return push, push.Start()
}

// beat has the producer's client send a heartbeat, which it does by itself every 30 s only, and nobody can tell it otherwise:
// a consumer that starts in the same client sends the heartbeat of all in it. It starts only where it finds the route.
func beat(names []string) error {
	end := time.Now().Add(45 * time.Second)
	for {
		beats++
		pull, err := rocketmq.NewPullConsumer(
			consumer.WithGroupName("beat-"+strconv.Itoa(beats)),
			consumer.WithInstance("producer"),
			consumer.WithNsResolver(primitive.NewPassthroughResolver(names)),
		)
		if err == nil {
			err = pull.Subscribe(topic, consumer.MessageSelector{Type: consumer.TAG, Expression: "*"})
		}
		if err == nil {
			err = pull.Start()
		}
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func drain(names []string, wanted string) error {
	pull, err := rocketmq.NewPullConsumer(
		consumer.WithGroupName("group-drain"),
		consumer.WithInstance("drain"+strconv.FormatInt(time.Now().UnixNano(), 36)),
		consumer.WithNsResolver(primitive.NewPassthroughResolver(names)),
	)
	if err != nil {
		return err
	}
	if err := pull.Subscribe(wanted, consumer.MessageSelector{Type: consumer.TAG, Expression: "*"}); err != nil {
		return err
	}
	if err := pull.Start(); err != nil {
		return err
	}
	defer pull.Shutdown()
	for queue := 0; queue < 4; queue++ {
		mq := &primitive.MessageQueue{Topic: wanted, BrokerName: "broker-a", QueueId: queue}
		for offset := int64(0); ; {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			found, err := pull.PullFrom(ctx, mq, offset, 32)
			cancel()
			if err != nil || found.Status != primitive.PullFound {
				break
			}
			for _, message := range found.GetMessageExts() {
				say("pulled", keyOf(message.Body), wanted)
			}
			offset = found.NextBeginOffset
			if offset >= found.MaxOffset {
				break // the next pull would wait 20 s for a message
			}
		}
	}
	return nil
}

func main() {
	rlog.SetLogLevel("error")
	names := []string{os.Args[1]}
	read(os.Args[2])
	options := []producer.Option{
		producer.WithNsResolver(primitive.NewPassthroughResolver(names)),
		producer.WithRetry(2),
		producer.WithSendMsgTimeout(15 * time.Second),
	}
	half, err := rocketmq.NewTransactionProducer(planned{}, append(options, producer.WithGroupName("order-service"), producer.WithInstanceName("producer"))...)
	if err == nil {
		err = half.Start()
	}
	if err != nil {
		panic(err)
	}
	plain, err := rocketmq.NewProducer(append(options, producer.WithGroupName("plain-service"), producer.WithInstanceName("plain"))...)
	if err == nil {
		err = plain.Start()
	}
	if err != nil {
		panic(err)
	}
	var consumers []rocketmq.PushConsumer
	say("ready", "", "")
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		words := strings.Fields(commands.Text())
		var problem error
		switch words[0] {
		case "phase":
			problem = send(half, plain, words[1])
		case "send":
			problem = sendOne(half, words)
		case "consume":
			var one rocketmq.PushConsumer
			one, problem = consume(names, words[1])
			consumers = append(consumers, one)
		case "beat":
			problem = beat(names)
		case "drain":
			problem = drain(names, words[1])
		case "end":
			for _, one := range consumers {
				one.Shutdown()
			}
			half.Shutdown()
			plain.Shutdown()
		}
		if problem != nil {
			say("failed", commands.Text(), strings.ReplaceAll(problem.Error(), "\n", " "))
		} else {
			say("done", commands.Text(), "")
		}
		if words[0] == "end" {
			return
		}
	}
}
