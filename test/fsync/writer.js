// @ts-check
/**
 * Publishes to an SQLite store (`node writer.js FILE`), first one event after the other, then several at once. Writes a
 * line for each acknowledgement at the moment it arrives, so that a trace of the process shows it among its flushes.
 */
import { writeSync } from 'node:fs'
import { createHookswitch } from 'hookswitch'
import { sqliteStore } from 'hookswitch/sqlite'

const SINGLE = 20
const GROUPS = 5
const GROUP_SIZE = 10

const hs = createHookswitch({ store: sqliteStore({ path: String(process.argv[2]) }), allowLocal: true })
await hs.start()
const { id: accountId } = await hs.accounts.create({ name: 'Flushed', realm: 'flushed.example.com' })
// No receiver listens there: failed attempts cause further writes between the publishes.
await hs.webhooks.create(accountId, { name: 'unreachable', uri: 'http://127.0.0.1:9/', hook: 'all' })

let published = 0
async function publish() {
  published += 1
  const callId = `marked-${published}-`
  await hs.publish({ hook: 'channel_create', accountId, callId, from: 'a@b', callerIdNumber: '+4930123456' })
  writeSync(1, `acknowledged ${callId}\n`)
}

for (let n = 0; n < SINGLE; n += 1) await publish()
for (let n = 0; n < GROUPS; n += 1) await Promise.all(Array.from({ length: GROUP_SIZE }, publish))
await hs.close({ drainMs: 0 })
