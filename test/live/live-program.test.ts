import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeFreeswitch, until } from 'hookswitch/testkit'
import { afterEach, expect, it } from 'vitest'
import { compareLegs, legsOf } from './legs.js'
import { startRelay } from './relay.js'
import { leg } from './scenario-parts.js'
import { startReceiver, startService } from './service.js'

const recordings = new URL('../../examples/switches/recordings/', import.meta.url)

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

it('receives and compares a recorded call of a fake FreeSWITCH, through the program and a relay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'live-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const fake = fakeFreeswitch({
    recording: await readFile(new URL('freeswitch-esl-json.txt.gz', recordings)),
  })
  const port = await fake.start()
  cleanups.push(() => fake.close())
  const relay = await startRelay({ address: '127.0.0.1', port })
  cleanups.push(relay.end)
  const receiver = await startReceiver()
  cleanups.push(receiver.end)
  const truth = JSON.parse(await readFile(new URL('freeswitch-expected.json', recordings), 'utf8'))
  const accounts = Object.entries<string>(truth.accounts).map(([realm, id]) => {
    return { id, name: realm, realm, apiKey: id.padEnd(40, '0') }
  })
  const service = await startService({
    ...{
      source: 'freeswitch',
      folder,
      accounts,
      receiver,
      env: { HOOKSWITCH_FREESWITCH_PASSWORD: 'ClueCon' },
    },
    flags: ['--freeswitch', `127.0.0.1:${relay.port}`, '--account-from', 'variable:ecallmgr_Account-ID'],
  })
  cleanups.push(service.end)
  await until(() => service.connections() === 1)
  await fake.play({ speed: 1_000 })

  const call = truth.recordings[0].calls[0]
  const [caller, callee] = call.legs
  const legs = () =>
    legsOf(receiver.received, 'freeswitch').filter(({ callId }) =>
      [caller.uuid, callee.uuid].includes(callId),
    )
  const ends = () => legs().filter(({ events }) => events.at(-1)?.hook_event === 'channel_destroy')
  await until(() => ends().length === 2)
  const account = caller.accountId
  const hooks = ['create', 'answer']
  const expected = [
    leg('inbound', '1001', '2001', [...hooks, 'bridge:2001'], { account, code: 200 }),
    leg('outbound', '2001', '1001', [...hooks, 'bridge:1001'], { account, code: 200 }),
  ].map(({ endpoint: _, ...unplaced }) => unplaced)
  expect(compareLegs(expected, legs())).toEqual([])
  expect(receiver.problems).toEqual([])
})
