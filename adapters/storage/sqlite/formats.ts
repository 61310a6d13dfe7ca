/** How a delivery is sent, and how the name of its lane is rebuilt, as one stored number. */
import type { Delivery, LaneKind } from 'hookswitch/store'

const VERBS: readonly Delivery['httpVerb'][] = ['get', 'post', 'put', 'patch', 'delete']
const VERB_STEP = 2
const LANE_STEP = 16
const TEST_LANE_KIND: LaneKind = 3

/** Formats of tests are at least this number, all others are lower. */
export const TEST_FORMATS = TEST_LANE_KIND * LANE_STEP

/** Lane kind × 16 + method × 2 + encoding: part of the schema. */
export function formatOf(
  { httpVerb, encoding }: Pick<Delivery, 'httpVerb' | 'encoding'>,
  lane: LaneKind,
): number {
  return lane * LANE_STEP + VERBS.indexOf(httpVerb) * VERB_STEP + (encoding === 'form' ? 1 : 0)
}

export const laneKindIn = (format: number) => Math.floor(format / LANE_STEP) as LaneKind
export const httpVerbIn = (format: number) => VERBS[Math.floor((format % LANE_STEP) / VERB_STEP)]!
export const encodingIn = (format: number): Delivery['encoding'] => (format % 2 === 1 ? 'form' : 'json')
