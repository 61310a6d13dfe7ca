import { describe, expect, it } from 'vitest'
import { findMisspeltFields } from '../../src/wire/warnings.js'

const targets = (extra: object, given: object = extra) =>
  findMisspeltFields(extra as never, given as never).map(({ path, target }) => [path, target])

describe('a field of a webhook that is unknown', () => {
  it.each([
    ['retires', 'retries'],
    ['Retries', 'retries'],
    ['retrys', 'retries'],
    ['url', 'uri'],
    ['hooks', 'hook'],
    ['http_verbs', 'http_verb'],
    ['custom_request_header', 'custom_request_headers'],
    ['include_sub_accounts', 'include_subaccounts'],
  ])('%s is probably %s', (path, target) => {
    expect(targets({ [path]: 1 })).toEqual([[path, target]])
  })

  it.each(['ui_metadata', 'ui', 'timeout', 'tags', 'owner', 'note', 'x', '', 'custom', 'a'.repeat(1_000)])(
    '%s may be the client’s own',
    (name) => {
      expect(targets({ [name]: 1 })).toEqual([])
    },
  )

  it('is the client’s own when the known field is given too', () => {
    expect(targets({ retires: 1 }, { retires: 1, retries: 2 })).toEqual([])
  })

  it('has a message that names both', () => {
    expect(findMisspeltFields({ retires: 3 }, { retires: 3 })).toEqual([
      {
        path: 'retires',
        message: 'This field is unknown and was stored as it is; did you mean retries?',
        target: 'retries',
      },
    ])
  })

  it('is looked for in a bounded number of fields', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`retrie${index % 10}${index}`, 1]),
    )
    expect(targets({ ...many, retires: 1 }).length).toBeLessThanOrEqual(100)
  })
})
