import type { ChannelEvent, Log } from 'hookswitch'
import type { SourceEvents, SwitchSource } from 'hookswitch/asterisk'
import { type ManualClock, manualClock, seededRandom } from 'hookswitch/testkit'

/** The shared options of a source under test. */
export interface Doors {
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: ManualClock
  readonly random: ReturnType<typeof seededRandom>
  readonly log: Log
}

/** A source that is listened to: what it publishes, tells and logs. */
export function listening(
  make: (doors: Doors) => SwitchSource,
  publish?: (event: ChannelEvent) => Promise<unknown>,
) {
  const clock = manualClock()
  const published: ChannelEvent[] = []
  const said: string[] = []
  const told: [string, Record<string, unknown>][] = []
  const line = (level: string) => (fields: object, text: string) =>
    void said.push(`${level} ${text} ${JSON.stringify(fields)}`)
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const source = make({
    publish: async (event) => {
      await publish?.(event)
      published.push(event)
    },
    clock,
    random: seededRandom(1),
    log,
  })
  const names: (keyof SourceEvents & string)[] = [
    'connected',
    'disconnected',
    'account_unknown',
    'rejected',
    'problem',
  ]
  for (const name of names) source.events.on(name, (value) => void told.push([name, value as never]))
  return {
    source,
    clock,
    published,
    said,
    told,
    /** Why it was disconnected, each time. */
    reasons: () => told.flatMap(([name, { reason }]) => (name === 'disconnected' ? [reason] : [])),
    connects: () => told.filter(([name]) => name === 'connected').length,
    hooks: () => published.map(({ hook, callId }) => `${callId} ${hook.replace('channel_', '')}`),
  }
}
