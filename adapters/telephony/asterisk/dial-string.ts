/** Reads the dialled number from the dial string of a dial: what follows the technology in `Dial(PJSIP/00441234@trunk)`. */
import { sipAddress } from '../source/sip-address.js'

/** Technologies whose dial string may begin with `user@`. In IAX2 that part is a login, with its secret. */
const USER_FIRST: ReadonlySet<string> = new Set(['PJSIP', 'SIP', 'Local'])

/** What is known of a channel when its dial begins. */
interface CalledChannel {
  readonly technology: string
  readonly endpoint: string
  /** The number of its endpoint: phones usually have one. */
  readonly ownNumber: string | undefined
}

/**
 * Returns the number that a dial string names beside the endpoint: that of `number@trunk`, `trunk/sip:number@host`,
 * `g1/number` and `number@context/n`; `undefined` where it names only an endpoint, or the registered contact of a phone.
 *
 * @param extension in which the caller's dial plan runs
 */
export function dialledNumber(
  called: CalledChannel,
  given: string,
  extension: string | undefined,
): string | undefined {
  const { technology } = called
  // Queue() names the technology too.
  const dialString = given.startsWith(`${technology}/`) ? given.slice(technology.length + 1) : given
  const slash = dialString.indexOf('/')
  const target = slash < 0 ? dialString : dialString.slice(0, slash)
  const path = slash < 0 || technology === 'Local' ? '' : dialString.slice(slash + 1)
  if (path !== '') {
    const user = sipAddress(path)?.user
    if (user !== undefined) return user === '' || isContact(called, user, extension) ? undefined : user
    // Behind the endpoint of PJSIP a list of AORs may follow instead of a URI.
    if (technology === 'PJSIP') return undefined
    const number = firstPart(path)
    // `w` waits for a dial tone.
    return technology === 'DAHDI' ? number?.replace(/^[wW]+/, '') || undefined : number
  }
  const at = target.lastIndexOf('@')
  return at > 0 && USER_FIRST.has(technology) ? firstPart(target.slice(0, at)) : undefined
}

/** Digits of an extension that the number of a trunk ends with, whatever its prefix. */
const MIN_COMMON_DIGITS = 5

const NUMBER = /^\+?[\d*#]+$/

/**
 * Whether the URI behind an endpoint is the contact of a phone (`${PJSIP_DIAL_CONTACTS(1010)}`), whose user may be random,
 * and not a number on a trunk. That is the dialled extension, or ends like it, or is a number behind the name of a trunk.
 */
function isContact(
  { endpoint, ownNumber }: CalledChannel,
  user: string,
  extension: string | undefined,
): boolean {
  if (user === endpoint || user === ownNumber) return true
  if (extension !== undefined && (user === extension || endAlike(user, extension))) return false
  return !NUMBER.test(user) || endpoint === ownNumber || NUMBER.test(endpoint)
}

function endAlike(first: string, second: string): boolean {
  return (
    first.length >= MIN_COMMON_DIGITS && first.slice(-MIN_COMMON_DIGITS) === second.slice(-MIN_COMMON_DIGITS)
  )
}

/** Removes what may follow the number: a context, a password, options. */
function firstPart(text: string): string | undefined {
  return text.split(/[@:;/]/, 1)[0] || undefined
}
