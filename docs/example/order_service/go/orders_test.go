package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/rlog"
	"halfcheck"
)

// The same service, tested from Go: in this process, with a broker whose clock stands still.
func TestAnOrderWhoseCommitIsLostIsShippedWhenItIsChecked(t *testing.T) {
	rlog.SetLogLevel("fatal")
	broker := halfcheck.Start(t, "--profile", "5.5.0", "--clock", "virtual")
	broker.Order("topic", halfcheck.Takes{"name": topic})
	broker.Order("fault", halfcheck.Takes{"fault": "lose_end", "key": "order-1"})
	database, err := open(filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	orders, err := newOrders(broker.Address, database, checksTheOrders{database})
	if err != nil {
		t.Fatal(err)
	}
	warehouse, err := newWarehouse(broker.Address, database)
	if err != nil {
		t.Fatal(err)
	}
	broker.Wait(halfcheck.Takes{"producer": "order-service"})
	if _, err := orders.place("order-1"); err != nil {
		t.Fatal(err)
	}
	for befell := map[string]any{}; befell["lose_end"] == nil; time.Sleep(50 * time.Millisecond) {
		befell = broker.Order("status", nil)["befell"].(map[string]any)
	}
	broker.Order("round", nil)
	broker.Wait(halfcheck.Takes{"delivered": "order-1"})
	for end := time.Now().Add(time.Minute); warehouse.received("order-1") == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("order-1 was not received")
		}
	}
	if shipped, _ := database.has(parcelsBucket, "order-1"); !shipped {
		t.Fatal("order-1 was received, and not shipped")
	}
	warehouse.consumer.Shutdown()
	orders.producer.Shutdown()
	broker.Order("push_clock", halfcheck.Takes{"ms": 10_000}) // until it is written down that the half is settled
	if broken := broker.Stop()["broken"].([]any); len(broken) > 0 {
		t.Fatal("broken: ", broken)
	}
}
