import type { Hookswitch } from 'hookswitch'
import { systemClock, systemRandom } from 'hookswitch/adapter'
import { createEventPipeline } from '../../../../adapters/telephony/source/event-pipeline.js'
import type { LegUpdate } from '../../../../adapters/telephony/source/mapped-events.js'

/** Creates an event pipeline in front of a service. */
export function startPipeline(hs: Hookswitch) {
  const shared = { clock: systemClock(), random: systemRandom(), log: undefined, metrics: undefined }
  const pipeline = createEventPipeline(
    { ...shared, publish: hs.publish, name: 'burst' },
    { maxWaitMs: 1_000, maxEventsPerLeg: 10, maxLegs: 10 },
  )
  const rejected: unknown[] = []
  pipeline.events.on('rejected', (event) => rejected.push(event))
  return { ...pipeline, rejected }
}

/** Returns the updates of concurrent legs with four events each, interleaved. */
export function burstOf(legs: number): LegUpdate[] {
  const hooks = ['channel_create', 'channel_answer', 'channel_hold', 'channel_destroy'] as const
  return hooks.flatMap((hook, step) =>
    Array.from({ length: legs }, (_, leg) => ({
      callId: `leg-${leg}`,
      accountId: 'acme',
      events: [
        {
          hook,
          callId: `leg-${leg}`,
          timestampMs: 1_767_225_600_000 + step,
          idempotencyKey: `${leg}/${hook}`,
        },
      ],
      isEnded: step === 3,
    })),
  )
}
