import type { ChannelEvent, Log } from 'hookswitch'
import type { SourceEvents, SwitchSource } from 'hookswitch/asterisk'
import { type ManualClock, manualClock, seededRandom } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'

/** The shared options of a source under test. */
export interface SharedOptions {
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  readonly clock: ManualClock
  readonly random: ReturnType<typeof seededRandom>
  readonly log: Log
}

/** Creates a source, records what it publishes, emits and logs, and closes it when the test is over. */
export function observeSource<Source extends SwitchSource>(
  make: (deps: SharedOptions) => Source,
  publish?: (event: ChannelEvent) => Promise<unknown>,
) {
  const clock = manualClock()
  const published: ChannelEvent[] = []
  const logged: string[] = []
  const emitted: [string, Record<string, unknown>][] = []
  const line = (level: string) => (fields: object, text: string) =>
    void logged.push(`${level} ${text} ${JSON.stringify(fields)}`)
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
  onTestFinished(() => source.close({ drainMs: 0 }))
  for (const name of names) source.events.on(name, (value) => void emitted.push([name, value as never]))
  return {
    source,
    clock,
    published,
    logged,
    emitted,
    /** What was emitted under this name. */
    of: (event: string) => emitted.flatMap(([name, value]) => (name === event ? [value] : [])),
    /** The reasons of all disconnects. */
    reasons: () => emitted.flatMap(([name, { reason }]) => (name === 'disconnected' ? [reason] : [])),
    connects: () => emitted.filter(([name]) => name === 'connected').length,
    hooks: () => published.map(({ hook, callId }) => `${callId} ${hook.replace('channel_', '')}`),
  }
}
