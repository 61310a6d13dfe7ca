import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChannelEvent } from 'hookswitch'
import { accountByDomain, kamailioSource } from 'hookswitch/kamailio'
import { until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from './free-port.js'

/** The configuration of the README, run in a locally installed Kamailio with two SIPp phones. */
const CONFIG = fileURLToPath(new URL('../../../examples/switches/kamailio.cfg', import.meta.url))
const scenario = (name: string) => fileURLToPath(new URL(`real-kamailio/${name}.xml`, import.meta.url))

const onPath = (name: string) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name))) ||
  existsSync(`/usr/sbin/${name}`)
const isHere = onPath('kamailio') && onPath('sipp')
if (!isHere && process.env.REQUIRE_KAMAILIO)
  throw new Error('kamailio and sipp (sip-tester) are not installed')
if (!isHere) console.warn('*** a real Kamailio is NOT tested: kamailio and sipp are not installed ***')

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function started(command: string, argv: readonly string[], cwd: string): ChildProcess {
  const child = spawn(command, argv, {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  })
  const ended = once(child, 'exit')
  cleanups.push(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    return ended
  })
  return child
}

describe.skipIf(!isHere)('a real Kamailio with the configuration of the README', () => {
  it('publishes real calls from create to destroy', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kamailio-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    const [proxy, evapi, callee, caller] = await Promise.all([
      freePort('udp'),
      freePort('tcp'),
      freePort('udp'),
      freePort('udp'),
    ])
    const text = (await readFile(CONFIG, 'utf8'))
      .replace('udp:127.0.0.1:5060', `udp:127.0.0.1:${proxy}`)
      .replace('127.0.0.1:8448', `127.0.0.1:${evapi}`)
      .replace('sip:127.0.0.1:5070', `sip:127.0.0.1:${callee}`)
    const config = join(folder, 'kamailio.cfg')
    await writeFile(config, text)

    const published: ChannelEvent[] = []
    const problems: unknown[] = []
    const source = kamailioSource({
      publish: async (event) => void published.push(event),
      host: '127.0.0.1',
      port: evapi,
      accountOf: accountByDomain({ 'alpha.example': 'alpha' }),
    })
    source.events.on('problem', (problem) => problems.push(problem))
    source.events.on('account_unknown', (unknown) => problems.push(unknown))
    const connected = new Promise((resolve) => source.events.once('connected', resolve))
    started(
      'kamailio',
      ['-f', config, '-DD', '-E', '-m', '64', '-M', '8', '-w', folder, '-Y', folder],
      folder,
    )
    source.start()
    cleanups.push(() => source.close())
    await connected

    const CALLS = 5
    const common = ['-i', '127.0.0.1', '-m', String(CALLS), '-nostdin']
    started('sipp', ['-sf', scenario('callee'), '-p', String(callee), ...common], folder)
    const phones = [
      '-sf',
      scenario('caller'),
      `127.0.0.1:${proxy}`,
      '-p',
      String(caller),
      '-s',
      '2001',
      '-d',
      '300',
    ]
    const calling = started('sipp', [...phones, ...common], folder)
    expect(await once(calling, 'exit')).toEqual([0, null])

    const hooksByCall = () => {
      const byCall = new Map<string, string[]>()
      for (const { callId, hook } of published) byCall.set(callId, [...(byCall.get(callId) ?? []), hook])
      return [...byCall.values()]
    }
    await until(() => hooksByCall().filter((hooks) => hooks.at(-1) === 'channel_destroy').length === CALLS)
    const expected = ['channel_create', 'channel_answer', 'channel_bridge', 'channel_destroy']
    expect(hooksByCall()).toEqual(Array.from({ length: CALLS }, () => expected))
    expect(problems).toEqual([])
    for (const event of published) {
      expect(event).toMatchObject({
        accountId: 'alpha',
        from: '1001@alpha.example',
        to: '2001@alpha.example',
        callerIdName: 'Zoë Caller',
      })
    }
    const ends = published.filter(({ hook }) => hook === 'channel_destroy')
    for (const end of ends)
      expect(end).toMatchObject({ hangupCause: 'NORMAL_CLEARING', hangupCode: 'sip:200' })
  })
})
