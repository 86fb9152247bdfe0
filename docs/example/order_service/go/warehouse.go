package main

import (
	"context"
	"sync"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// warehouse packs a parcel for an order that comes in.
type warehouse struct {
	consumer rocketmq.PushConsumer
	database *database
	lock     sync.Mutex
	heard    map[string]int
}

func newWarehouse(nameServer string, database *database) (*warehouse, error) {
	w := &warehouse{database: database, heard: map[string]int{}}
	var err error
	w.consumer, err = rocketmq.NewPushConsumer(
		consumer.WithNsResolver(primitive.NewPassthroughResolver([]string{nameServer})),
		consumer.WithGroupName("warehouse"),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	)
	if err != nil {
		return nil, err
	}
	if err := w.consumer.Subscribe(topic, consumer.MessageSelector{}, w.consume); err != nil {
		return nil, err
	}
	return w, w.consumer.Start()
}

func (w *warehouse) consume(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
	for _, message := range messages {
		if err := w.database.pack(message.GetKeys()); err != nil {
			return consumer.ConsumeRetryLater, nil
		}
		w.lock.Lock()
		w.heard[message.GetKeys()]++
		w.lock.Unlock()
	}
	return consumer.ConsumeSuccess, nil
}

// received is how often the warehouse has heard of an order.
func (w *warehouse) received(order string) int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.heard[order]
}
