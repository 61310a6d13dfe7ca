/** What the program says about itself. */

export const MAIN_HELP = `hookswitch: access tokens, API keys and webhooks for call-handling platforms

Usage:
  hookswitch serve [flags]     serve the HTTP API and deliver webhooks
  hookswitch migrate [flags]   move everything from a file into a PostgreSQL database
  hookswitch --version
  hookswitch --help

'hookswitch serve --help' and 'hookswitch migrate --help' list the flags.
`

export const MIGRATE_HELP = `Usage: hookswitch migrate --from FILE --to URL [--schema NAME]
       hookswitch migrate --from FILE --undo

Moves accounts, tokens, webhooks, attempts and everything that is not delivered yet from the file of a stopped
service into a PostgreSQL database: all of it, or nothing. What is pending goes on there as soon as a node is started.
The file opens no more then. Ended in the middle, by whatever, it is simply run again. Prints one line of JSON with
the numbers of rows on stdout; what it does goes to stderr.

  --from FILE             the file (serve --data)
  --to URL                the PostgreSQL database (serve --postgres)
  --schema NAME           the database's schema for it, empty or not there yet (hookswitch)
  --undo                  bring a file back into use that was moved, or whose move did not end; never start a node on
                          the database then: what was pending at the move would be sent twice

Environment:
  HOOKSWITCH_POSTGRES     the URL of --to, which need not stand in the list of processes then; the flag wins
`

export const SERVE_HELP = `Usage: hookswitch serve [flags]

Prints {"ready":true,"url":"http://…"} on stdout when it listens; logs go to stderr. SIGTERM and SIGINT drain,
a second one ends at once.

  --port N                listen on this port, 0 for any free one (8000)
  --host HOST             listen on this address (127.0.0.1)
  --data FILE             keep everything in this file, made at the first start (./hookswitch.db)
  --postgres URL          keep everything in a PostgreSQL database, which several nodes may share
  --schema NAME           the database's schema for it, made at the first start (hookswitch)
  --memory                keep everything in memory: gone when the program ends
  --accounts FILE.json    accounts to create or update at start: an array of
                          {"id","name","realm","parentId","enabled","apiKey","users":[{"username","password"}]},
                          all but name and realm optional
  --token-ttl SECONDS     how long a token is valid (86400)
  --preset kazoo          behave as KAZOO does where the defaults are better: form data, retries as total tries
                          2 s apart on transport errors only,
                          disabling after 6 failed tries in 60 s
  --ingest                take events over HTTP: PUT /v1/accounts/ACCOUNT/events
  --freeswitch HOST:PORT  take events from this FreeSWITCH's event socket, port 8021 if none is named (repeatable)
  --asterisk-ami USER@HOST:PORT
                          take events from this Asterisk's manager interface, port 5038 (repeatable)
  --asterisk-ari URL      take events from this Asterisk's REST interface, http://USER@HOST:8088/ari (repeatable)
  --kamailio HOST:PORT    take events from this Kamailio's evapi, port 8448 (repeatable)
  --account-from WHAT     what tells whose call it is: variable:NAME, sip-header:NAME, context, endpoint or
                          account-code, whose value is the account's id, or realm, the account's; of all switches
                          but Kamailio, where it is the realm
  --allow HOST|CIDR       let webhooks reach this host or network though it is not public (repeatable)
  --allow-local           let webhooks reach loopback addresses and localhost
  --cors ORIGIN           let pages of this origin call the API (repeatable)
  --trust-proxy CIDR      believe the X-Forwarded-For of proxies in this network (repeatable)
  --login-burst N         logins at once from one address before it must wait (100)
  --admin-port N          serve /healthz, /readyz and /metrics on this port of the same host (not served)
  --log json|pretty       how to log (pretty on a terminal, else json)

At most one of --data, --postgres and --memory.

Environment:
  HOOKSWITCH_SECRET       the key for secrets at rest, at least 16 characters: with PostgreSQL it is needed, the same
                          on every node; with a file it is else made and kept in FILE.key, in memory for this run
  HOOKSWITCH_POSTGRES     the URL of --postgres, which need not stand in the list of processes then; a flag wins
  HOOKSWITCH_FREESWITCH_PASSWORD, HOOKSWITCH_AMI_SECRET, HOOKSWITCH_ARI_PASSWORD
                          the passwords of --freeswitch (ClueCon), --asterisk-ami and --asterisk-ari
`
