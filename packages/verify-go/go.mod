module waypost.example/webhooks

go 1.21
