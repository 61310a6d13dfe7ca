// @ts-check
/** Scenarios of who calls whom: registered contacts, withheld numbers, and tenants by other rules than a variable. */
import { answeredCall, leg, phonesOf } from './scenario-parts.js'
import * as step from './sipp-steps.js'

const answers = [step.isInvited, step.ring, step.answer, step.isHungUp]
const stays = [step.isAnswered, step.waitForGo, step.hangUp]

/** The phone that calls of the trunk with this number ring. */
const WITHHELD = { number: '15551299', name: 'Withheld Caller' }

/**
 * A call in each direction between two tenants.
 *
 * @param {string} first
 * @param {string} second
 */
const bothWays = (first, second) => async (/** @type {import('./scenario.js').Stage} */ stage) => {
  for (const [from = '', to = '', bridges] of /** @type {const} */ ([
    [first, second, 1],
    [second, first, 2],
  ])) {
    stage.callee(to, ...answers)
    const caller = stage.caller(from, to, ...stays)
    await stage.sees(to, 'bridge', bridges)
    await stage.sees(from, 'bridge', bridges)
    await caller.go()
    await stage.done()
  }
}

/**
 * The legs of `bothWays`, with the account of each phone.
 *
 * @param {Readonly<Record<string, string>>} accounts by number
 */
function legsBothWays(accounts) {
  const [first = '', second = ''] = Object.keys(accounts)
  const calls = [
    ...answeredCall(first, second, 'caller', { group: 'first' }),
    ...answeredCall(second, first, 'caller', { group: 'second' }),
  ]
  return calls.map((expected) => ({ ...expected, account: String(accounts[expected.phone]) }))
}

/** @type {readonly import('./scenario.js').Scenario[]} */
export const PARTY_SCENARIOS = [
  {
    name: 'the registered contacts of a phone are dialled',
    only: ['asterisk'],
    phones: phonesOf('1671', '1672'),
    dialplan: {
      asterisk: ['exten => 1672,1,Set(__ACCOUNT_ID=acme)', `same => n,Dial(\${PJSIP_DIAL_CONTACTS(1672)})`],
    },
    async play(stage) {
      stage.callee('1672', ...answers)
      const caller = stage.caller('1671', '1672', ...stays)
      await stage.sees('1671', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1671', '1672', 'caller'),
  },
  {
    name: 'the registered contacts of a phone are dialled, and nobody answers',
    only: ['asterisk'],
    phones: phonesOf('1673', '1674'),
    dialplan: {
      asterisk: [
        ...['exten => 1674,1,Set(__ACCOUNT_ID=acme)', `same => n,Dial(\${PJSIP_DIAL_CONTACTS(1674)},1)`],
        'same => n,Hangup(19)',
      ],
    },
    async play(stage) {
      stage.callee('1674', step.isInvited, step.ring, step.isCancelled)
      stage.caller('1673', '1674', step.isRefused(480))
    },
    legs: [
      leg('inbound', '1673', '1674', ['create', 'missed_call'], { cause: 'NO_ANSWER', endedBy: 'switch' }),
      leg('outbound', '1674', '1673', ['create'], { cause: 'NO_ANSWER', endedBy: 'switch' }),
    ],
  },
  {
    name: 'a caller outside withholds the number',
    phones: phonesOf('1681'),
    never: { texts: [WITHHELD.number, WITHHELD.name], account: 'acme' },
    asteriskConf: {
      'extensions.conf': [
        ...['[from-trunk]', 'exten => 1681,1,Set(__ACCOUNT_ID=acme)', 'same => n,Dial(PJSIP/1681)'],
      ],
    },
    async play(stage) {
      stage.callee('1681', ...answers)
      const identity = `"${WITHHELD.name}" <sip:${WITHHELD.number}@carrier.example>`
      const headers = ['X-Carrier: yes', 'Privacy: id', `P-Asserted-Identity: ${identity}`]
      const parties = { from: 'anonymous', to: '1681', name: 'Anonymous', headers }
      const steps = [step.invite(parties), ...stays]
      const carrier = stage.phone({ number: 'trunk', steps, places: true })
      await stage.sees('1681', 'bridge')
      await carrier.go()
    },
    legs: answeredCall('', '1681', 'caller', { account: 'acme' }),
  },
  {
    name: 'the dial plan withholds the number of the caller from the callee',
    only: ['asterisk'],
    phones: phonesOf('1691', '2691'),
    never: { texts: ['Phone 1691'], account: 'globex' },
    dialplan: {
      asterisk: [
        ...['exten => 2691,1,Set(__ACCOUNT_ID=acme)', 'same => n,Set(CALLERID(num-pres)=prohib)'],
        'same => n,Dial(PJSIP/2691)',
      ],
    },
    async play(stage) {
      stage.callee('2691', ...answers)
      const caller = stage.caller('1691', '2691', ...stays)
      await stage.sees('1691', 'bridge')
      await stage.sees('2691', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1691', '2691', 'caller').map((expected) =>
      expected.phone === '2691' ? { ...expected, account: 'globex', other: '' } : expected,
    ),
  },
  {
    name: 'two tenants call each other: accounts by variable',
    phones: phonesOf('1701', '2701'),
    play: bothWays('1701', '2701'),
    legs: legsBothWays({ 1701: 'acme', 2701: 'globex' }),
  },
  {
    name: 'two tenants call each other: accounts by account code',
    only: ['asterisk'],
    accountFrom: 'account-code',
    phones: { 1711: undefined, 2711: undefined },
    asteriskConf: {
      'pjsip.conf': ['[1711](+)', 'accountcode = acme', '[2711](+)', 'accountcode = globex'],
    },
    play: bothWays('1711', '2711'),
    legs: legsBothWays({ 1711: 'acme', 2711: 'globex' }),
  },
  {
    name: 'two tenants call each other: accounts by context',
    only: ['asterisk'],
    accountFrom: 'context',
    phones: { 1721: undefined, 2721: undefined },
    asteriskConf: {
      'pjsip.conf': ['[1721](+)', 'context = acme', '[2721](+)', 'context = globex'],
      'extensions.conf': [
        ...['[acme]', 'exten => 2721,1,Dial(PJSIP/2721)'],
        ...['[globex]', 'exten => 1721,1,Dial(PJSIP/1721)'],
      ],
    },
    play: bothWays('1721', '2721'),
    legs: legsBothWays({ 1721: 'acme', 2721: 'globex' }),
  },
  {
    name: 'two tenants call each other: accounts by endpoint',
    only: ['asterisk'],
    accountFrom: 'endpoint',
    phones: { 1731: undefined, 2731: undefined },
    play: bothWays('1731', '2731'),
    legs: legsBothWays({ 1731: '1731', 2731: '2731' }),
  },
]
