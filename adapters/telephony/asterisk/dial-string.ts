/** Reads the dialled number from the dial string of a dial: what follows the technology in `Dial(PJSIP/00441234@trunk)`. */
import { sipAddress } from '../source/sip-address.js'

/** Technologies whose dial string may begin with `user@`. In IAX2 that part is a login, with its secret. */
const USER_FIRST: ReadonlySet<string> = new Set(['PJSIP', 'SIP', 'Local'])

/**
 * Returns the number that a dial string names beside the endpoint: that of `number@trunk`, `trunk/sip:number@host`,
 * `g1/number` and `number@context/n`; `undefined` where it names only an endpoint.
 *
 * @param technology of the called channel: `PJSIP`
 */
export function dialledNumber(technology: string, dialString: string): string | undefined {
  const slash = dialString.indexOf('/')
  const target = slash < 0 ? dialString : dialString.slice(0, slash)
  const path = slash < 0 || technology === 'Local' ? '' : dialString.slice(slash + 1)
  if (path !== '') {
    const address = sipAddress(path)
    if (address) return address.user || undefined
    // Behind the endpoint of PJSIP a list of AORs may follow instead of a URI.
    return technology === 'PJSIP' ? undefined : firstPart(path)
  }
  const at = target.lastIndexOf('@')
  return at > 0 && USER_FIRST.has(technology) ? firstPart(target.slice(0, at)) : undefined
}

/** Removes what may follow the number: a context, a password, options. */
function firstPart(text: string): string | undefined {
  return text.split(/[@:;/]/, 1)[0] || undefined
}
