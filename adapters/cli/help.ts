/** The help texts of the program. That of `serve` is made from the table of settings. */
import { flagOf, variableOf } from './setting-names.js'
import { isList } from './setting-schema.js'
import { SETTING_GROUPS, type SettingName, settingOf } from './settings.js'
import { PARAMETERS } from './switch-table.js'

export const MAIN_HELP = `hookswitch: access tokens, API keys and webhooks for call-handling platforms

Usage:
  hookswitch serve [flags]     serve the HTTP API and deliver webhooks
  hookswitch config print      show the settings that hold and where they came from
  hookswitch config check FILE check a configuration file
  hookswitch migrate [flags]   move all data from a SQLite file into a PostgreSQL database
  hookswitch rotate-secret     replace the secret that encrypts API keys and signing secrets
  hookswitch vacuum            give free space inside a SQLite file back to the disk
  hookswitch COMMAND [flags]   use a running service
  hookswitch help [WORD …]     show this help, or that of a command
  hookswitch --version

Commands:
  accounts, users, webhooks    list, show, create, change and delete them; the webhooks that fail
  deliveries                   list and search deliveries, explain one
  attempts                     list the requests to receivers, or watch them live
  replay                       send deliveries again that were not delivered
  replays                      list replays and their progress; pause, continue and cancel them
  jobs                         list the jobs over webhooks of all accounts; pause, continue and cancel them
  events                       publish events, list their kinds
  token                        log in for scripts
  erase                        erase the stored data of a call or a number
  why                          find out why something was not delivered
  verify                       check the signature of a stored request
  completion                   completion of these words in bash, zsh and fish

'hookswitch WORD --help' shows the commands and flags of each.

Environment of the commands:
  HOOKSWITCH_URL             the service (http://127.0.0.1:8000)
  HOOKSWITCH_API_KEY         the API key of an account
  HOOKSWITCH_TOKEN           a token instead of the key, with the account in HOOKSWITCH_ACCOUNT
  HOOKSWITCH_ACCOUNT         the account to act on (that of the key)
  HOOKSWITCH_USER_PASSWORD   the password that 'users create' and 'users update' set
  HOOKSWITCH_WEBHOOK_SECRET  the signing secret for 'verify'
  With _FILE behind the name of a variable for a secret, it names a file with the secret.

Exit codes of the commands:
  0 done, 1 failed or invalid signature, 2 wrong arguments or refused as invalid, 3 not allowed, 4 does not exist,
  5 conflict, 6 service unavailable
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

export const ROTATE_SECRET_HELP = `Usage: hookswitch rotate-secret [--data FILE | --postgres URL [--schema NAME]]
       (--from-file FILE | --from-variable NAME) (--to-file FILE | --to-variable NAME)

Encrypts API keys, signing secrets and custom request headers with a new secret. Stop the service of a SQLite file first;
the key beside the file is replaced. With PostgreSQL the nodes may run: start each with both secrets in
HOOKSWITCH_SECRET first, as a list: '["new","old"]'. If it is interrupted, run it again. Prints one line of
JSON with the number of rows on stdout.

  --data FILE             the SQLite file (./hookswitch.db)
  --postgres URL          the PostgreSQL database
  --schema NAME           the schema of the database (hookswitch)
  --from-file FILE        the file with the secret in use (with a SQLite file: FILE.key beside it)
  --from-variable NAME    the environment variable with the secret in use
  --to-file FILE          the file with the new secret; for a SQLite file 64 hex digits
  --to-variable NAME      the environment variable with the new secret

Environment:
  HOOKSWITCH_POSTGRES     the URL of --postgres, to keep it out of the process list; flags take precedence
`

export const VACUUM_HELP = `Usage: hookswitch vacuum [--data FILE]

Gives the free space inside a SQLite file, which removed rows leave, back to the disk. The service may run: its writes wait for
a few milliseconds at a time. If it is interrupted, run it again. Prints one line of JSON with the sizes before and after on
stdout and its progress on stderr.

  --data FILE             the SQLite file (./hookswitch.db)

A PostgreSQL database needs no such command: its autovacuum reuses the space.
`

export const CONFIG_HELP = `Usage: hookswitch config print [--json] [flags of serve]
       hookswitch config check FILE [--admin-url URL]

print shows each setting that has a value, and whether the file, a variable, a flag or the default gave it. It takes the
flags of serve and reads the same environment. Passwords and keys are not shown.

check reads a configuration file and the files that it names, and reports every problem with its line and column. It
uses no variables, and opens and changes nothing. With --admin-url it also shows what a reload of the service with that admin
port would do now: the accounts and settings that change, and the settings that need a restart.
`

/** Width of the column of flags, and of the whole text. */
const INDENT = 26
const WIDTH = 119

/** An entry of a list: its name, and its text from a fixed column on. */
function entry(name: string, text: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length + 1 > WIDTH - INDENT) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  const head = `  ${name}`
  const first = head.length + 2 > INDENT ? `${head}\n${' '.repeat(INDENT)}` : head.padEnd(INDENT)
  return `${first}${lines.join(`\n${' '.repeat(INDENT)}`)}\n`
}

function flagEntry(name: SettingName): string {
  const { argument, about, default: value, defaultText, schema, alias } = settingOf(name)
  const shown = defaultText ?? (value === undefined || value === false ? undefined : String(value))
  const notes = [
    ...(isList(schema) ? ['repeatable'] : []),
    ...(alias === undefined ? [] : [`also ${alias}`]),
    ...(value === true ? [`--no-${flagOf(name).slice(2)} turns it off`] : []),
    ...(shown === undefined ? [] : [shown]),
  ]
  const text = notes.length === 0 ? about : `${about} (${notes.join('; ')})`
  return entry(argument === undefined ? flagOf(name) : `${flagOf(name)} ${argument}`, text)
}

function parameterEntry(name: keyof typeof PARAMETERS): string {
  const { argument, about, defaultText } = PARAMETERS[name]
  return entry(`${name}=${argument}`, defaultText === undefined ? about : `${about} (${defaultText})`)
}

function variableEntry(name: SettingName): string {
  const { about, defaultText } = settingOf(name)
  return entry(variableOf(name), defaultText === undefined ? about : `${about} (${defaultText})`)
}

const ofGroups = (hasFlag: boolean, write: (name: SettingName) => string) =>
  SETTING_GROUPS.map(([title, names]) => ({
    title,
    entries: names.filter((name) => (settingOf(name).hasFlag !== false) === hasFlag).map(write),
  })).filter(({ entries }) => entries.length > 0)

const FLAGS = ofGroups(true, flagEntry)
  .map(({ title, entries }) => `${title}:\n${entries.join('')}`)
  .join('\n')
const PARAMETER_ENTRIES = (Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[])
  .map(parameterEntry)
  .join('')
const VARIABLES = ofGroups(false, variableEntry)
  .map(({ entries }) => entries.join(''))
  .join('')

export const SERVE_HELP = `Usage: hookswitch serve [flags]

Prints {"ready":true,"url":"http://…"} on stdout when it listens; logs go to stderr. SIGTERM and SIGINT drain;
a second signal exits at once. SIGHUP reloads the configuration and the accounts.

A setting may be in the file of --config, in a variable and in a flag; the flag takes precedence over the variable, and
the variable over the file. The flag --tls-ca-file is the variable HOOKSWITCH_TLS_CA_FILE and the key tls.caFile;
--no-ingest turns --ingest off, and so on. 'hookswitch config print' shows what holds.

${FLAGS}
At most one of --data, --postgres and --memory.

Parameters of one switch follow its address: --asterisk-ari 'http://hook@pbx:8088/ari?app=node1&account-from=context'.
Quote the value for the shell; in a parameter write & as %26 and % as %25.

${PARAMETER_ENTRIES}
Variables without a flag, because the list of processes would show them. With _FILE behind its name, as in
HOOKSWITCH_SECRET_FILE, each names a file with the secret; so do HOOKSWITCH_POSTGRES_FILE and HOOKSWITCH_PROXY_FILE.
${VARIABLES}`
