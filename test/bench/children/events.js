/** Events as a telephony platform publishes them, with a payload of about 1 KB. */

const EVENTS_OF_A_CALL = 5
const CALLS_AT_ONCE = 200

export const accountName = (index) => `account-${index}`

/**
 * The n-th event of a load: accounts in turn, each with 200 calls under way, each call of five events.
 *
 * @param {number} index 0, 1, …
 * @param {number} accounts
 */
export function eventAt(index, accounts) {
  const account = index % accounts
  const own = Math.floor(index / accounts)
  const call = Math.floor(own / (CALLS_AT_ONCE * EVENTS_OF_A_CALL)) * CALLS_AT_ONCE + (own % CALLS_AT_ONCE)
  return {
    hook: 'channel_answer',
    direction: 'inbound',
    from: '+4930123456789@sip.example.com',
    to: '+4930987654321@sip.example.com',
    request: '+4930987654321@pbx.example.com',
    inception: '+4930987654321@sip.example.com',
    callerIdName: 'Ada Lovelace',
    callerIdNumber: '+4930123456789',
    calleeIdName: 'Charles Babbage',
    calleeIdNumber: '+4930987654321',
    ownerId: '1ac4a1bd4ac14db6b9ddbdd2ef4e5cf1',
    resellerId: '5ba1e4b1a7de4b2f8d55fbcf6a7f0d10',
    authorizingId: 'd0e8f2dbd5bb4b6cb2a6a10d4f1c2b9e',
    authorizingType: 'device',
    callForwarded: false,
    emergencyResourceUsed: false,
    localResourceUsed: true,
    localResourceId: '7cbd0b9d1f2c4d6f9c0e6d2f7b3a8e41',
    customChannelVars: {
      bridge_id: '3f9e6d0c5b7a4f1e8d2c1b0a9f8e7d6c',
      realm: 'sip.example.com',
      trunk: 'gateway-7.frankfurt.example.net',
    },
    accountId: accountName(account),
    callId: `call-${account}-${call}@pbx.example.com`,
  }
}

/** The same event, with the moment of its publishing in it. */
export function stamped(event, micros) {
  event.customChannelVars.published_us = String(micros)
  return event
}

const STAMP = /"published_us":"(\d+)"/

/** The moment in the text of a request. */
export function stampOf(text) {
  return Number(STAMP.exec(text)?.[1] ?? Number.NaN)
}

/** The text of a body with another moment in it. */
export const restamped = (body, micros) => body.replace(STAMP, `"published_us":"${micros}"`)
