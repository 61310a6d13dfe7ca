/** The names under which a name of an URL is looked up: the search domains of resolv.conf(5), as glibc uses them. */
import { normalizeHostname } from '../values/address-policy.js'

/** More domains are ignored: each costs two queries for every name that does not exist. */
const MAX_DOMAINS = 6
const MAX_NDOTS = 15
const MAX_NAME_LENGTH = 253
const LABEL = /^[a-z0-9_-]{1,63}$/

const isDomain = (text: string) => text.split('.').every((label) => LABEL.test(label))

/** What a resolv.conf says of search domains. */
interface SearchRules {
  /** In order. An empty one is the root: the name as it stands. */
  readonly domains: readonly string[]
  /** A name with at least so many dots is looked up as it stands first. */
  readonly ndots: number
}

/** Parses a resolv.conf. The last `search` or `domain` counts; what is not valid is skipped. */
export function parseResolvConf(text: string): SearchRules {
  let domains: readonly string[] = []
  let ndots = 1
  for (const line of text.split('\n')) {
    // Comments and what is indented have no keyword at the start of the line.
    const [keyword, ...words] = line.replace(/\r$/, '').split(/[ \t]+/)
    const values = words.filter((word) => word !== '')
    if (keyword === 'search' && values.length > 0) domains = values
    else if (keyword === 'domain' && values.length > 0) domains = values.slice(0, 1)
    else if (keyword === 'options') {
      for (const value of values) {
        const count = /^ndots:(\d{1,9})$/.exec(value)?.[1]
        if (count !== undefined) ndots = Math.min(Number(count), MAX_NDOTS)
      }
    }
  }
  const valid = domains.map(normalizeHostname).filter((domain) => domain === '' || isDomain(domain))
  return { domains: [...new Set(valid)].slice(0, MAX_DOMAINS), ndots }
}

/**
 * The names to look up for the host name of a URL, in order, without trailing dots. The name as it stands is among them:
 * first where it has `ndots` dots, alone where it ends with a dot.
 */
export function searchNames(hostname: string, { domains, ndots }: SearchRules): readonly string[] {
  const name = normalizeHostname(hostname)
  if (hostname.endsWith('.')) return [name]
  const searched = domains
    .map((domain) => (domain === '' ? name : `${name}.${domain}`))
    .filter((full) => full.length <= MAX_NAME_LENGTH)
  const isFirst = name.split('.').length > ndots
  return [...new Set(isFirst ? [name, ...searched] : [...searched, name])]
}
