// @ts-check
/**
 * Publishes on an SQLite file, one event after the other and then many at once, and says of each that it was
 * acknowledged: a line written at that moment, which whoever traces this process sees beside its flushes.
 * (`node writer.js FILE`).
 */
import { writeSync } from 'node:fs'
import { createHookswitch } from 'hookswitch'
import { sqliteStore } from 'hookswitch/sqlite'

const ALONE = 20
const GROUPS = 5
const TOGETHER = 10

const hs = createHookswitch({ store: sqliteStore({ path: String(process.argv[2]) }), allowLocal: true })
await hs.start()
const { id: accountId } = await hs.accounts.create({ name: 'Flushed', realm: 'flushed.example.com' })
// Nobody is there: what is written between is written all the same.
await hs.webhooks.create(accountId, { name: 'nobody', uri: 'http://127.0.0.1:9/', hook: 'all' })

let published = 0
async function publish() {
  published += 1
  const callId = `marked-${published}-`
  await hs.publish({ hook: 'channel_create', accountId, callId, from: 'a@b', callerIdNumber: '+4930123456' })
  writeSync(1, `acknowledged ${callId}\n`)
}

for (let n = 0; n < ALONE; n += 1) await publish()
for (let n = 0; n < GROUPS; n += 1) await Promise.all(Array.from({ length: TOGETHER }, publish))
await hs.close({ drainMs: 0 })
