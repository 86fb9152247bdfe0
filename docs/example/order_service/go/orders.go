package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

const topic = "Orders"

// orders places them: the row and the message that tells the warehouse of it, both or neither.
type orders struct {
	producer rocketmq.TransactionProducer
	database *database
	answers  checker
	lock     sync.Mutex
	checked  map[string]int
}

func newOrders(nameServer string, database *database, answers checker) (*orders, error) {
	o := &orders{database: database, answers: answers, checked: map[string]int{}}
	var err error
	o.producer, err = rocketmq.NewTransactionProducer(o,
		producer.WithNsResolver(primitive.NewPassthroughResolver([]string{nameServer})),
		producer.WithGroupName("order-service"),
		producer.WithSendMsgTimeout(15*time.Second),
	)
	if err != nil {
		return nil, err
	}
	return o, o.producer.Start()
}

func (o *orders) place(order string) (string, error) {
	message := primitive.NewMessage(topic, []byte(order)).WithTag("placed").WithKeys([]string{order})
	sent, err := o.producer.SendMessageInTransaction(context.Background(), message)
	if err != nil {
		return "", err
	}
	if sent.State == primitive.CommitMessageState {
		return "COMMIT_MESSAGE", nil
	}
	return "", fmt.Errorf("order %s was not placed: state %d", order, sent.State)
}

// ExecuteLocalTransaction implements primitive.TransactionListener.
func (o *orders) ExecuteLocalTransaction(message *primitive.Message) primitive.LocalTransactionState {
	if err := o.database.placeOrder(message.GetKeys()); err != nil {
		return primitive.RollbackMessageState
	}
	return primitive.CommitMessageState
}

// CheckLocalTransaction implements primitive.TransactionListener.
func (o *orders) CheckLocalTransaction(message *primitive.MessageExt) primitive.LocalTransactionState {
	o.lock.Lock()
	o.checked[message.GetKeys()]++
	o.lock.Unlock()
	return o.answers.check(message.GetKeys())
}

// checks is how often the broker has asked what became of an order.
func (o *orders) checks(order string) int {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.checked[order]
}
