// @ts-check
/** The real address policy, and policies with a hole whose runs must fail. */
import { compileAddressPolicy } from 'hookswitch/testkit'

const closed = compileAddressPolicy({ allowLocal: false, allow: [] })

/** @type {Readonly<Record<string, ReturnType<typeof compileAddressPolicy>>>} */
export const POLICIES = {
  closed,
  open: compileAddressPolicy({ allowLocal: false, allow: ['0.0.0.0/0', '::/0'] }),
  'a hole of one address': compileAddressPolicy({ allowLocal: false, allow: ['10.0.0.1'] }),
  'unchecked answers': { checkHost: closed.checkHost, checkAddress: () => ({ blocked: false }) },
  'unchecked literals': {
    checkAddress: closed.checkAddress,
    checkHost(hostname) {
      const check = closed.checkHost(hostname)
      const address = hostname.replace(/^\[|\]$/g, '')
      return check.blocked && /^[\d.]+$|:/.test(address)
        ? { blocked: false, allowsAnyAddress: true, address }
        : check
    },
  },
}
