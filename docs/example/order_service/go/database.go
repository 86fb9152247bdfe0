package main

import (
	"time"

	"go.etcd.io/bbolt"
)

// database keeps orders, parcels, and the log of local transactions, in one file.
type database struct{ file *bbolt.DB }

var (
	ordersBucket  = []byte("orders")
	parcelsBucket = []byte("parcels")
	logBucket     = []byte("transaction log")
)

func open(path string) (*database, error) {
	file, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	return &database{file}, file.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{ordersBucket, parcelsBucket, logBucket} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
}

// placeOrder writes the order, and into the log that its local transaction was committed, in one transaction.
func (d *database) placeOrder(order string) error {
	return d.file.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(ordersBucket).Put([]byte(order), []byte{}); err != nil {
			return err
		}
		return tx.Bucket(logBucket).Put([]byte(order), []byte(time.Now().Format(time.RFC3339Nano)))
	})
}

// pack packs the one parcel of an order, however often it is asked to.
func (d *database) pack(order string) error {
	return d.file.Update(func(tx *bbolt.Tx) error { return tx.Bucket(parcelsBucket).Put([]byte(order), []byte{}) })
}

func (d *database) has(bucket []byte, key string) (found bool, err error) {
	err = d.file.View(func(tx *bbolt.Tx) error {
		found = tx.Bucket(bucket).Get([]byte(key)) != nil
		return nil
	})
	return found, err
}

func (d *database) logged() (keys []string, err error) {
	keys = []string{}
	err = d.file.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(logBucket).ForEach(func(key, _ []byte) error {
			keys = append(keys, string(key))
			return nil
		})
	})
	return keys, err
}

// forget takes out of the log what is older, so that it does not grow for ever.
func (d *database) forget(older time.Duration) {
	for range time.Tick(older / 10) {
		d.file.Update(func(tx *bbolt.Tx) error {
			entries := tx.Bucket(logBucket).Cursor()
			for key, at := entries.First(); key != nil; key, at = entries.Next() {
				if written, err := time.Parse(time.RFC3339Nano, string(at)); err == nil && time.Since(written) > older {
					if err := entries.Delete(); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
}
