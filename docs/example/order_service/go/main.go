// The service: POST /orders/ID places an order, GET /orders/ID says what became of it, GET /transactions is the log of
// local transactions.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/apache/rocketmq-client-go/v2/rlog"
)

func main() {
	nameServer := flag.String("name-server", "127.0.0.1:9876", "HOST:PORT")
	file := flag.String("database", "orders.db", "where orders are kept")
	variant := flag.String("variant", "mended", "how checks are answered: buggy or mended")
	keepLog := flag.Duration("keep-log", 10*time.Minute, "after how long the log of local transactions forgets one")
	flag.Parse()
	rlog.SetLogLevel("fatal")
	if err := serve(*nameServer, *file, *variant, *keepLog); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func serve(nameServer, file, variant string, keepLog time.Duration) error {
	database, err := open(file)
	if err != nil {
		return err
	}
	checkers := map[string]checker{"buggy": checksTheLog{database}, "mended": checksTheOrders{database}}
	answers, known := checkers[variant]
	if !known {
		return fmt.Errorf("variant %q: expected buggy or mended", variant)
	}
	go database.forget(keepLog)
	orders, err := newOrders(nameServer, database, answers)
	if err != nil {
		return err
	}
	defer orders.producer.Shutdown()
	warehouse, err := newWarehouse(nameServer, database)
	if err != nil {
		return err
	}
	defer warehouse.consumer.Shutdown()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, handlers(database, orders, warehouse))
	fmt.Printf("http://%s\n", listener.Addr())
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, os.Interrupt)
	<-stopped
	return nil
}

func handlers(database *database, orders *orders, warehouse *warehouse) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/orders/", func(answer http.ResponseWriter, request *http.Request) {
		order := strings.TrimPrefix(request.URL.Path, "/orders/")
		if request.Method == http.MethodPost {
			state, err := orders.place(order)
			reply(answer, map[string]any{"state": state}, err)
			return
		}
		placed, err := database.has(ordersBucket, order)
		parcels := 0
		if shipped, _ := database.has(parcelsBucket, order); shipped {
			parcels = 1
		}
		reply(answer, map[string]any{
			"placed": placed, "checks": orders.checks(order), "received": warehouse.received(order), "parcels": parcels,
		}, err)
	})
	mux.HandleFunc("/transactions", func(answer http.ResponseWriter, _ *http.Request) {
		logged, err := database.logged()
		reply(answer, map[string]any{"logged": logged}, err)
	})
	return mux
}

func reply(answer http.ResponseWriter, value map[string]any, err error) {
	if err != nil {
		answer.WriteHeader(http.StatusInternalServerError)
		value = map[string]any{"error": err.Error()}
	}
	json.NewEncoder(answer).Encode(value)
}
