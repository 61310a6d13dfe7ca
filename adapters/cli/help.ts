/** What the program says about itself. */

export const MAIN_HELP = `hookswitch: access tokens, API keys and webhooks for call-handling platforms

Usage:
  hookswitch serve [flags]   serve the HTTP API and deliver webhooks
  hookswitch --version
  hookswitch --help

'hookswitch serve --help' lists the flags.
`

export const SERVE_HELP = `Usage: hookswitch serve [flags]

Prints {"ready":true,"url":"http://…"} on stdout when it listens; logs go to stderr. SIGTERM and SIGINT drain,
a second one ends at once.

  --port N                listen on this port, 0 for any free one (8000)
  --host HOST             listen on this address (127.0.0.1)
  --memory                keep everything in memory: gone when the program ends (the only store so far)
  --accounts FILE.json    accounts to create or update at start: an array of
                          {"id","name","realm","parentId","enabled","apiKey","users":[{"username","password"}]},
                          all but name and realm optional
  --token-ttl SECONDS     how long a token is valid (86400)
  --preset kazoo          behave as KAZOO does where the defaults are better: form data, retries as total tries
                          2 s apart on transport errors only,
                          disabling after 6 failed tries in 60 s
  --ingest                take events over HTTP: PUT /v1/accounts/ACCOUNT/events
  --allow HOST|CIDR       let webhooks reach this host or network though it is not public (repeatable)
  --allow-local           let webhooks reach loopback addresses and localhost
  --cors ORIGIN           let pages of this origin call the API (repeatable)
  --trust-proxy CIDR      believe the X-Forwarded-For of proxies in this network (repeatable)
  --login-burst N         logins at once from one address before it must wait (100)
  --admin-port N          serve /healthz, /readyz and /metrics on this port of the same host (not served)
  --log json|pretty       how to log (pretty on a terminal, else json)

Environment:
  HOOKSWITCH_SECRET       the key for secrets at rest, at least 16 characters (a random one for this run)
`
