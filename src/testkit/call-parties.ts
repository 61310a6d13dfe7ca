import type { SeededRandom } from './random.js'

/** An account in which calls happen. */
export interface CallAccount {
  readonly id: string
  /** The SIP realm of its phones, default `<id>.example`. */
  readonly realm?: string
}

/** One side of a call: who it is, and its address in SIP. */
export interface Party {
  readonly name: string | undefined
  readonly number: string
  /** `user@realm` */
  readonly address: string
  /** True for a phone of the account. */
  readonly own: boolean
}

/** Names as they come: also none, and every script that a caller id is seen in. */
const NAMES: readonly (string | undefined)[] = [
  'Ann Lee',
  'Bob Example',
  'WIRELESS CALLER',
  'José Álvarez',
  'Zoë Müller',
  'Søren Ægidius',
  "O'Brien & Sons <Ltd>",
  'Nguyễn Thị Hà',
  'Мария Иванова',
  'محمد علي',
  'דנה כהן',
  '李雷',
  '김민준',
  'さくら整骨院',
  '🍕 Pizza Roma',
  '"Quoted" \\ slashed',
  undefined,
]

/** A carrier's side of a trunk, in the block that RFC 5737 keeps for documentation. */
const TRUNKS = ['203.0.113.10', '203.0.113.11', '198.51.100.7']

/** Caller and callee of one call: from outside to a phone, from a phone to outside, or from phone to phone. */
export function drawParties(random: SeededRandom, account: CallAccount): { caller: Party; callee: Party } {
  const phone = () => ownPhone(random, account)
  const kind = random.weighted({ incoming: 50, outgoing: 35, inside: 15 })
  if (kind === 'incoming') return { caller: outside(random), callee: phone() }
  if (kind === 'outgoing') return { caller: phone(), callee: outside(random) }
  const caller = phone()
  let callee = phone()
  while (callee.number === caller.number) callee = phone()
  return { caller, callee }
}

function ownPhone(random: SeededRandom, { id, realm = `${id}.example` }: CallAccount): Party {
  const number = String(random.integer(1001, 1040))
  return { name: random.pick(NAMES), number, address: `${number}@${realm}`, own: true }
}

/** Numbers that their countries keep for fiction. */
function outside(random: SeededRandom): Party {
  const two = String(random.integer(0, 99)).padStart(2, '0')
  const three = String(random.integer(0, 999)).padStart(3, '0')
  const number = random.pick([`+120255501${two}`, `+442079460${three}`, `+6491570${three}`])
  return { name: random.pick(NAMES), number, address: `${number}@${random.pick(TRUNKS)}`, own: false }
}

/** Call-ID characters beyond letters and digits (RFC 3261 25.1, `word`): now and then a phone uses them. */
const ODD = ['a/b%2Fc+', "it's(odd)?", '<x>:y;z~', '[{"q"}]\\', '..%00..']

/** A leg's id, unique through `number`: a UUID as FreeSWITCH makes it, or a SIP Call-ID. */
export function drawCallId(random: SeededRandom, number: number, side: string, realm: string): string {
  const hex = Buffer.from(random.bytes(8)).toString('hex')
  if (random.chance(0.05)) return `${random.pick(ODD)}${hex}.${number}${side}@${realm}`
  if (random.chance(0.5)) return `${hex}.${number}${side}@${realm}`
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13)}-${number}${side}`
}
