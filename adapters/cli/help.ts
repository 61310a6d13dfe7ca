/** The help texts of the program. */

export const MAIN_HELP = `hookswitch: access tokens, API keys and webhooks for call-handling platforms

Usage:
  hookswitch serve [flags]     serve the HTTP API and deliver webhooks
  hookswitch migrate [flags]   move all data from a SQLite file into a PostgreSQL database
  hookswitch --version
  hookswitch --help

'hookswitch serve --help' and 'hookswitch migrate --help' list the flags.
`

export const MIGRATE_HELP = `Usage: hookswitch migrate --from FILE --to URL [--schema NAME]
       hookswitch migrate --from FILE --undo

Moves accounts, tokens, webhooks, attempts and pending deliveries from the file of a stopped service into a PostgreSQL
database, in one transaction. A node on the database then continues the pending deliveries, and the file can no longer
be opened. If the migration is interrupted, run it again. Prints one line of JSON with the numbers of rows on stdout and
its progress on stderr.

  --from FILE             the file (serve --data)
  --to URL                the PostgreSQL database (serve --postgres)
  --schema NAME           the schema of the database, empty or not yet created (hookswitch)
  --undo                  bring a migrated file, or one whose migration did not end, back into use. Never start a node
                          on the database afterwards: deliveries pending at the migration would be sent twice

Environment:
  HOOKSWITCH_POSTGRES     the URL of --to, to keep it out of the process list; the flag takes precedence
`

export const SERVE_HELP = `Usage: hookswitch serve [flags]

Prints {"ready":true,"url":"http://…"} on stdout when it listens; logs go to stderr. SIGTERM and SIGINT drain;
a second signal exits at once.

  --port N                listen on this port; 0 chooses a free one (8000)
  --host HOST             listen on this address (127.0.0.1)
  --data FILE             store data in this SQLite file, created at the first start (./hookswitch.db)
  --postgres URL          store data in a PostgreSQL database, which several nodes may share
  --schema NAME           the schema of the database, created at the first start (hookswitch)
  --memory                store data in memory; it is lost when the program ends
  --accounts FILE.json    accounts to create or update at start: an array of
                          {"id","name","realm","parentId","enabled","apiKey","users":[{"username","password"}]},
                          only name and realm are required. An account that the file no longer lists is named in
                          a warning
  --accounts-prune        remove accounts that the file of --accounts no longer lists
  --operator ID           the API key and admins of this account act on every account over HTTP (repeatable)
  --token-ttl SECONDS     lifetime of a token (86400)
  --preset kazoo          behave as KAZOO does where our defaults differ: form data, retries as total tries 2 s
                          apart on transport errors only, disabling after 6 failed tries in 60 s
  --ingest                accept events over HTTP: PUT /v1/accounts/ACCOUNT/events
  --freeswitch HOST:PORT  read events from this FreeSWITCH's event socket, default port 8021 (repeatable)
  --freeswitch-outbound HOST:PORT
                          listen here for FreeSWITCHes whose dial plan runs 'socket', default port 8084 (repeatable)
  --asterisk-ami USER@HOST:PORT
                          read events from this Asterisk's manager interface, default port 5038 (repeatable)
  --asterisk-ari URL      read events from this Asterisk's REST interface, http://USER@HOST:8088/ari (repeatable)
  --kamailio HOST:PORT    read events from this Kamailio's evapi, default port 8448 (repeatable)
  --account-from SOURCE   where to read the account of a call: variable:NAME, sip-header:NAME, context, endpoint or
                          account-code (an account id), or realm (an account's realm). Applies to the switches without
                          a parameter account-from, except Kamailio, which always uses the realm
  --allow HOST|CIDR       permit webhooks to this private host or network (repeatable)
  --allow-local           permit webhooks to loopback addresses and localhost
  --cors ORIGIN           permit browser pages of this origin to call the API (repeatable)
  --trust-proxy CIDR      trust X-Forwarded-For from proxies in this network (repeatable)
  --login-burst N         logins from one address before it is rate-limited (100)
  --admin-port N          serve /healthz, /readyz and /metrics on this port of the same host (off)
  --log json|pretty       log format (pretty on a terminal, otherwise json)

At most one of --data, --postgres and --memory.

Parameters of one switch follow its address: --asterisk-ari 'http://hook@pbx:8088/ari?app=node1&account-from=context'.
Quote the value for the shell; in a parameter write & as %26 and % as %25.

  account-from=SOURCE     as --account-from, for this switch
  account-wait-ms=N       how long the events of a call wait for its account (10000)
  max-open-legs=N         open calls above which the oldest is dropped (100000)
  password-env=NAME       the environment variable with this switch's password (not --freeswitch-outbound, --kamailio)
  custom-variables=A,B    channel variables for custom_channel_vars (not --kamailio)
  optional-hooks=A,B      hooks to publish beside those of a leg, or none (all but channel_dtmf; not --kamailio)
  extra-events=A,B        further FreeSWITCH events for the account, such as CHANNEL_EXECUTE (--freeswitch...)
  format=json|plain       how FreeSWITCH writes events (json)
  silence-ms=N            probe a silent FreeSWITCH after this time (20000; --freeswitch)
  connect-timeout-ms=N    limit for connecting (10000; --freeswitch, --kamailio)
  allow=IP,IP             addresses that may connect (127.0.0.1,::1; --freeswitch-outbound)
  max-connections=N       calls at the same time (10000; --freeswitch-outbound)
  continue-with=TEXT      the application that continues the dial plan, such as 'transfer 2001 XML public'
                          (a transfer to where the call was going; --freeswitch-outbound)
  realm-from=SOURCE       the realm of an Asterisk call's addresses: account (the realm of its account), variable:NAME
                          or fixed:DOMAIN (none: addresses are numbers)
  tls=yes|no              encrypt the manager interface; the default port is then 5039 (no; --asterisk-ami)
  ca=FILE                 the certificate of the authority to trust (--asterisk-ami with tls=yes)
  app=NAME                the ARI application, one per node (--asterisk-ari)
  max-call-ms=N           end a Kamailio call whose end was missed after this time (43260000)

Environment:
  HOOKSWITCH_SECRET       the key that encrypts secrets at rest, at least 16 characters. Required with PostgreSQL, the
                          same on every node. With a file the default is a random key stored in FILE.key; in memory,
                          a random key for this run
  HOOKSWITCH_POSTGRES     the URL of --postgres, to keep it out of the process list; flags take precedence
  HOOKSWITCH_FREESWITCH_PASSWORD, HOOKSWITCH_AMI_SECRET, HOOKSWITCH_ARI_PASSWORD
                          the passwords of --freeswitch (ClueCon), --asterisk-ami and --asterisk-ari, unless
                          password-env names another variable
`
