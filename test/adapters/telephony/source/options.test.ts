import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { checkTls } from '../../../../adapters/telephony/source/options.js'

describe('the option tls', () => {
  it('is true, false, or names the authorities and the server', () => {
    for (const value of [true, false, {}, { ca: 'PEM' }, { ca: ['PEM', 'PEM'], servername: 'pbx.example' }])
      expect(() => checkTls('tls', value)).not.toThrow()
  })

  it.each([
    ['yes', 'tls must be true, false or an object'],
    [null, 'tls must be true, false or an object'],
    [{ ca: '' }, 'tls.ca must be an array of non-empty strings'],
    [{ ca: [1] }, 'tls.ca must be an array of non-empty strings'],
    [{ servername: 'a b' }, 'tls.servername must be a host name or an address'],
    [{ rejectUnauthorized: false }, 'tls.rejectUnauthorized is not an option: it has ca and servername'],
  ])('is not %j', (value, message) => {
    let thrown: unknown
    try {
      checkTls('tls', value)
    } catch (error) {
      thrown = error
    }
    expect([errorCode(thrown), (thrown as Error).message]).toEqual(['InvalidOption', message])
  })
})
