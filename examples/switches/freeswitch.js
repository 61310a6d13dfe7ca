// @ts-check
/**
 * Webhooks for the calls of a FreeSWITCH. Without flags it connects to a fake FreeSWITCH on this machine, which replays
 * 47 recorded calls (eight of their legs never get an account, so their events are not published). With flags it connects
 * to yours:
 *
 *     node freeswitch.js
 *     node freeswitch.js --host 10.0.0.5 --password … --variable ecallmgr_Account-ID --account acme
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { fakeFreeswitch } from 'hookswitch/testkit'
import { runUntil, startService } from './service.js'

const { values: flags } = parseArgs({
  options: {
    host: { type: 'string' },
    port: { type: 'string', default: '8021' },
    password: { type: 'string', default: 'ClueCon' },
    // The channel variable in which your dial plan sets the account id.
    variable: { type: 'string', default: 'ecallmgr_Account-ID' },
    account: { type: 'string', multiple: true },
    speed: { type: 'string', default: '30' },
  },
})

/** The account ids of the recording. */
const RECORDED = ['4f0c9e3b5d7a41c2a6e8d1b3907f25ce', 'b81d2c7f60e94a3f9c5512d0e7a4f68b']
const recording = new URL('recordings/freeswitch-esl-json.txt.gz', import.meta.url)

const fake = flags.host === undefined ? fakeFreeswitch({ recording: await readFile(recording) }) : undefined
const service = await startService(
  (flags.account ?? RECORDED).map((id) => ({ id, name: id, realm: `${id}.example` })),
)
const source = freeswitchSource({
  publish: service.hs.publish,
  host: flags.host ?? '127.0.0.1',
  port: fake ? await fake.start() : Number(flags.port),
  password: flags.password,
  accountOf: accountFromVariable(flags.variable),
  // The fake is as slow as this machine, on which other programs may run.
  ...(fake && { accountWaitMs: 600_000 }),
})

await runUntil(source, service, fake, Number(flags.speed))
