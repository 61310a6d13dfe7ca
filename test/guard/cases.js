// @ts-check
/** The cases of a run: every spelling of an address in every kind of URL, then names with changing DNS answers. */
import { seededRandom } from 'hookswitch/testkit'
import {
  CLOSED,
  CLOSED_SIX,
  FOUR_SPELLINGS,
  LOCAL_NAMES,
  OPEN,
  OPEN_SIX,
  SIX_SPELLINGS,
  URLS,
} from './spellings.js'

/**
 * @typedef {object} Case
 * @property {number} number
 * @property {string} what description
 * @property {string} url
 * @property {readonly import('./name-server.js').Answer[]} answers one per lookup; the last repeats
 * @property {import('./canaries.js').ResponseKind} responseKind
 * @property {number} sends consecutive requests to the same URL
 */

/** @type {readonly import('./canaries.js').ResponseKind[]} */
const RESPONSE_KINDS = ['stay', 'close', 'redirect', 'redirect and close']
/** @type {readonly import('./name-server.js').Trick[]} */
const TRICKS = [
  'alias',
  'alias of localhost',
  'loop',
  'other owner',
  'other type',
  'short',
  'long',
  'no name',
  'failure',
  'corrupted',
  'additional',
]
/** Just below 1,000: the resolver ignores further addresses of an answer. */
const MANY = 990
/** Probability of no answer: rare, because each one costs the whole lookup timeout. */
const SILENCE = 0.002

const embedding = Object.entries(FOUR_SPELLINGS)
  .filter(([, spell]) => spell('10.0.0.1').startsWith('['))
  .map(
    ([, spell]) =>
      (/** @type {string} */ four) =>
        spell(four).slice(1, -1),
  )

/** Every host that is an address literal or a name of this machine. */
const LITERALS = [
  ...[...CLOSED, ...OPEN].flatMap((four) =>
    Object.entries(FOUR_SPELLINGS).map(([how, spell]) => ({ what: `${four}, ${how}`, host: spell(four) })),
  ),
  ...[...CLOSED_SIX, ...OPEN_SIX].flatMap((six) =>
    Object.entries(SIX_SPELLINGS).map(([how, spell]) => ({ what: `${six}, ${how}`, host: spell(six) })),
  ),
  ...LOCAL_NAMES.map((host) => ({ what: host, host })),
]

/**
 * @param {string} seed
 * @param {number} count number of cases; literals are sampled where they would be more than half
 * @returns {Generator<Case>} distinct cases
 */
export function* casesOf(seed, count) {
  const random = seededRandom(seed)
  const seen = new Set()
  let number = 0
  const made = (
    /** @type {Omit<Case, 'number' | 'url'>} */ rest,
    /** @type {string} */ host,
    /** @type {string} */ around,
  ) => {
    number += 1
    const url = String(URLS[around]?.(host, `c${number}`))
    return { ...rest, number, url, what: `${rest.what}, URL: ${around}` }
  }

  const every = LITERALS.flatMap((literal) => Object.keys(URLS).map((around) => ({ ...literal, around })))
  const step = Math.max(1, every.length / (count / 2))
  for (let at = random.fraction() * step; at < every.length; at += step) {
    const { what, host, around } = /** @type {(typeof every)[number]} */ (every[Math.floor(at)])
    const answers = [{ four: [random.pick(CLOSED)], six: [] }]
    yield made(
      { what, answers, responseKind: random.pick(RESPONSE_KINDS), sends: random.integer(1, 2) },
      host,
      around,
    )
  }
  while (number < count) {
    const around = random.pick(Object.keys(URLS))
    const answers = Array.from({ length: random.integer(1, 4) }, () => answer(random))
    const rest = { answers, responseKind: random.pick(RESPONSE_KINDS), sends: random.integer(1, 4) }
    const key = JSON.stringify([rest, around])
    if (seen.has(key)) continue
    seen.add(key)
    yield made(
      { what: `answers ${answers.map(describe).join(' then ')}`, ...rest },
      `n${number + 1}.test`,
      around,
    )
  }
}

/** @param {import('hookswitch/testkit').SeededRandom} random @returns {import('./name-server.js').Answer} */
function answer(random) {
  if (random.chance(SILENCE)) return { four: [], six: [], trick: 'silence' }
  const share = random.pick([0, 0, 0.3, 1])
  const four = () => random.pick(random.chance(share) ? CLOSED : OPEN)
  const six = () => {
    if (random.chance(0.5)) return random.pick(random.chance(share) ? CLOSED_SIX : OPEN_SIX)
    return random.pick(embedding)(four())
  }
  const many = random.chance(0.01) ? MANY : 0
  const list = (/** @type {() => string} */ draw, /** @type {number} */ most) =>
    Array.from({ length: random.integer(0, most) }, draw)
  const made = { four: [...new Array(many).fill('8.8.8.8'), ...list(four, 3)], six: list(six, 3) }
  return random.chance(0.3) ? { ...made, trick: random.pick(TRICKS) } : made
}

const describe = (/** @type {import('./name-server.js').Answer} */ { four, six, trick }) => {
  const all = [...four, ...six]
  const list =
    all.length > 8 ? `${all.length} addresses, ending with ${all.slice(-6).join(' ')}` : all.join(' ')
  return `[${list}]${trick === undefined ? '' : ` (${trick})`}`
}
