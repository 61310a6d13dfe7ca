import { type Hookswitch, systemClock, systemRandom } from 'hookswitch'
import { feed } from '../../../../adapters/telephony/source/feed.js'
import type { LegNews } from '../../../../adapters/telephony/source/leg-news.js'

/** A feed in front of a service. */
export function feeding(hs: Hookswitch) {
  const doors = { publish: hs.publish, clock: systemClock(), random: systemRandom(), log: undefined }
  const made = feed({ ...doors, name: 'burst' }, { holdMs: 1_000, maxPerLeg: 10, maxLegs: 10 })
  const rejected: unknown[] = []
  made.events.on('rejected', (one) => rejected.push(one))
  return { ...made, rejected }
}

/** So many legs of four events each, said by the switch in the order of the events, all legs at once. */
export function burst(legs: number): LegNews[] {
  const hooks = ['channel_create', 'channel_answer', 'channel_hold', 'channel_destroy']
  return hooks.flatMap((hook, step) =>
    Array.from({ length: legs }, (_, leg) => ({
      callId: `leg-${leg}`,
      accountId: 'acme',
      drafts: [
        {
          hook,
          callId: `leg-${leg}`,
          timestampMs: 1_767_225_600_000 + step,
          idempotencyKey: `${leg}/${hook}`,
        },
      ],
      ended: step === 3,
    })),
  )
}
