module halfcheck

go 1.21
