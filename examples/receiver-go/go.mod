module example/receiver

go 1.21.0

require waypost.example/webhooks v0.0.0

replace waypost.example/webhooks => ../../packages/verify-go
