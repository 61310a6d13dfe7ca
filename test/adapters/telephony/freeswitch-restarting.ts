/** A fake FreeSWITCH and a host that is started and stopped several times. */
import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'
import { type FakeSwitch, jsonFrame, legEvent, startFakeSwitch } from './freeswitch-fake.js'
import { createHost, type RunningNode, type StoreMaker } from './restarting.js'

/** When the legs of `legEvent` began, microseconds. */
export const CREATED_US = Number(legEvent('', '')['Caller-Channel-Created-Time'])
export const ANSWERED = { answeredMs: 2_400 }

export async function startFreeswitch(newStore: StoreMaker) {
  const fake = await startFakeSwitch()
  onTestFinished(() => fake.close())
  const host = createHost(newStore(), `freeswitch 127.0.0.1:${fake.port}`, (options) =>
    freeswitchSource({ ...options, port: fake.port, accountOf: accountFromVariable() }),
  )
  const listings = () => fake.commands.filter((command) => command.includes('show channels')).length
  return {
    fake,
    ...host,
    /** Starts a node whose resync has begun. */
    async start() {
      const before = listings()
      const node = await host.start()
      await until(() => listings() > before)
      return node
    },
  }
}

/** Sets the calls that the switch lists. */
export function openCalls(fake: FakeSwitch, dumps: Readonly<Record<string, object>>): void {
  fake.replies = {
    channels: Object.keys(dumps),
    api: (command) => {
      const dump = dumps[command.replace(/^uuid_dump | json$/g, '')]
      return dump && JSON.stringify(dump)
    },
  }
}

/** Passes the time after which the missing legs of this many sources have ended. */
export async function passGrace({ clock }: RunningNode, sources = 1): Promise<void> {
  // Each source sleeps until it checks its connection, and in the resync until a late end has arrived.
  await until(() => clock.sleepers().count === 2 * sources)
  await clock.advance(2_100)
}

export const destroyEvent = (uuid: string) =>
  jsonFrame({
    ...legEvent('CHANNEL_DESTROY', uuid, ANSWERED),
    'Caller-Channel-Hangup-Time': String(CREATED_US + 11_800_000),
  })
