// @ts-check
/** The guard as it is, and guards with a hole, whose runs must fail. */
import { compilePolicy } from 'hookswitch'

const closed = compilePolicy({ allowLocal: false, allow: [] })

/** @type {Readonly<Record<string, ReturnType<typeof compilePolicy>>>} */
export const POLICIES = {
  closed,
  open: compilePolicy({ allowLocal: false, allow: ['0.0.0.0/0', '::/0'] }),
  'a hole of one address': compilePolicy({ allowLocal: false, allow: ['10.0.0.1'] }),
  'answers unjudged': { judgeHost: closed.judgeHost, judgeIp: () => ({ blocked: false }) },
  'literals unjudged': {
    judgeIp: closed.judgeIp,
    judgeHost(hostname) {
      const verdict = closed.judgeHost(hostname)
      const address = hostname.replace(/^\[|\]$/g, '')
      return verdict.blocked && /^[\d.]+$|:/.test(address)
        ? { blocked: false, trusted: true, address }
        : verdict
    },
  },
}
