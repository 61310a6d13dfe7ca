/** Events like those of a telephony platform, with a payload of about 1 KB. */

const EVENTS_PER_CALL = 5
const CONCURRENT_CALLS = 200

export const accountName = (index) => `account-${index}`

/**
 * The n-th event of a load: accounts in turn, each with 200 concurrent calls of five events each.
 *
 * @param {number} index 0, 1, …
 * @param {number} accounts
 */
export function eventAt(index, accounts) {
  const account = index % accounts
  const accountIndex = Math.floor(index / accounts)
  const call =
    Math.floor(accountIndex / (CONCURRENT_CALLS * EVENTS_PER_CALL)) * CONCURRENT_CALLS +
    (accountIndex % CONCURRENT_CALLS)
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

/** Adds the time of publishing to an event. */
export function addTimestamp(event, micros) {
  event.customChannelVars.published_us = String(micros)
  return event
}

const TIMESTAMP = /"published_us":"(\d+)"/

/** The time of publishing in the text of a request; NaN if there is none. */
export function timestampOf(text) {
  return Number(TIMESTAMP.exec(text)?.[1] ?? Number.NaN)
}

/** A body with its time of publishing replaced. */
export const replaceTimestamp = (body, micros) => body.replace(TIMESTAMP, `"published_us":"${micros}"`)
