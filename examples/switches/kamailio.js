// @ts-check
/**
 * Webhooks for the calls of a Kamailio proxy, over `evapi` as configured in kamailio.cfg in this folder. Without flags it
 * connects to a fake Kamailio on this machine, which replays 75 recorded calls. With flags it connects to yours:
 *
 *     node kamailio.js
 *     node kamailio.js --host 10.0.0.5 --domain acme.example=acme
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { accountByDomain, kamailioSource } from 'hookswitch/kamailio'
import { fakeKamailio } from 'hookswitch/testkit'
import { runUntil, startService } from './service.js'

const { values: flags } = parseArgs({
  options: {
    host: { type: 'string' },
    port: { type: 'string', default: '8448' },
    // Account id by domain: the domain in $dlg_var(account) that the routing script sets, otherwise the caller's.
    domain: { type: 'string', multiple: true, default: ['alpha.example=alpha', 'beta.example=beta'] },
    speed: { type: 'string', default: '30' },
  },
})

const recording = new URL('../demo/kamailio-dialogs.ndjson', import.meta.url)
const fake = flags.host === undefined ? fakeKamailio({ recording: await readFile(recording) }) : undefined

const domains = Object.fromEntries(flags.domain.map((text) => text.split('=', 2)))
const accounts = Object.entries(domains).map(([realm, id]) => ({ id, name: id, realm }))
const service = await startService(accounts)
const source = kamailioSource({
  publish: service.hs.publish,
  host: flags.host ?? '127.0.0.1',
  port: fake ? await fake.start() : Number(flags.port),
  accountOf: accountByDomain(domains),
})

await runUntil(source, service, fake, Number(flags.speed))
