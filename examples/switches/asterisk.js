// @ts-check
/**
 * Webhooks for the calls of an Asterisk. Without flags it connects to a fake Asterisk on this machine, which replays 48
 * recorded calls (the halves of its Local channels have no account). With flags it connects to yours, over the manager
 * interface (AMI) or, with `--ari`, over the REST interface:
 *
 *     node asterisk.js
 *     node asterisk.js --host 10.0.0.5 --user hookswitch --secret … --variable ACCOUNT_ID --account acme
 *     node asterisk.js --ari http://10.0.0.5:8088/ari --user hookswitch --secret … --account acme
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { accountFromVariable, asteriskAmi, asteriskAri } from 'hookswitch/asterisk'
import { fakeAsteriskAmi } from 'hookswitch/testkit'
import { runUntil, startService } from './service.js'

const { values: flags } = parseArgs({
  options: {
    host: { type: 'string' },
    port: { type: 'string', default: '5038' },
    ari: { type: 'string' },
    user: { type: 'string', default: 'hookswitch' },
    secret: { type: 'string', default: 'secret' },
    // The channel variable with the account id; `channelvars` of manager.conf or ari.conf must list it.
    variable: { type: 'string', default: 'ACCOUNT_ID' },
    account: { type: 'string', multiple: true, default: ['alpha', 'beta'] },
    speed: { type: 'string', default: '30' },
  },
})

const isFake = flags.host === undefined && flags.ari === undefined
const recording = new URL('recordings/asterisk-ami.txt.gz', import.meta.url)
const login = { username: flags.user, secret: flags.secret }
const fake = isFake ? fakeAsteriskAmi({ recording: await readFile(recording), ...login }) : undefined

const service = await startService(flags.account.map((id) => ({ id, name: id, realm: `${id}.example` })))
const common = {
  publish: service.hs.publish,
  accountOf: accountFromVariable(flags.variable),
  // The fake is as slow as this machine, on which other programs may run.
  ...(fake && { accountWaitMs: 600_000 }),
}
const port = fake ? await fake.start() : Number(flags.port)
const source =
  flags.ari === undefined
    ? asteriskAmi({ ...common, ...login, host: flags.host ?? '127.0.0.1', port })
    : asteriskAri({ ...common, url: flags.ari, username: flags.user, password: flags.secret })

await runUntil(source, service, fake, Number(flags.speed))
