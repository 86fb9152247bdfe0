package main

import (
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// checker answers the broker that asks what became of a local transaction.
type checker interface {
	check(order string) primitive.LocalTransactionState
}

// checksTheLog is buggy: it takes what is not in the log for rolled back. The log forgets, and the broker may ask late.
type checksTheLog struct{ database *database }

func (c checksTheLog) check(order string) primitive.LocalTransactionState {
	found, err := c.database.has(logBucket, order)
	switch {
	case err != nil:
		return primitive.UnknowState
	case found:
		return primitive.CommitMessageState
	}
	return primitive.RollbackMessageState
}

// checksTheOrders is mended: it asks the orders themselves, which stay. What is not there may still come.
type checksTheOrders struct{ database *database }

func (c checksTheOrders) check(order string) primitive.LocalTransactionState {
	if found, err := c.database.has(ordersBucket, order); err == nil && found {
		return primitive.CommitMessageState
	}
	return primitive.UnknowState
}
