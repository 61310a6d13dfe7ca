/** Who called whom, as text. Pure. */

/** The parties of a call, as the service names them: numbers, or SIP users with a domain. */
export interface Parties {
  readonly from?: string
  readonly to?: string
  /** `inbound` or `outbound`. */
  readonly direction?: string
}

/** The number or user of a party without its domain: `+12025550123@carrier.example` becomes `+12025550123`. */
export function partyName(party: string): string {
  const user = party.replace(/^sips?:/i, '').split('@', 1)[0]!
  return user === '' ? party : user
}

/** `+12025550123 → 1001`, or what is known of it; `undefined`: nothing is. */
export function partiesText({ from, to }: Parties = {}): string | undefined {
  const names = [from, to].filter((party) => party !== undefined && party !== '')
  return names.length === 0 ? undefined : names.map((party) => partyName(party!)).join(' → ')
}
