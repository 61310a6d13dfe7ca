import { describe, expect, it } from 'vitest'
import { dialledNumber } from '../../../adapters/telephony/asterisk/dial-string.js'
import { A, B, channel, channelEvent, createTracedMapping, T0 } from './asterisk-switch-events.js'

describe('the number in a dial string', () => {
  it.each([
    ['PJSIP', '2001', undefined],
    ['PJSIP', '00441234@trunk', '00441234'],
    ['PJSIP', 'trunk/sip:551234@127.0.0.1:16009', '551234'],
    ['PJSIP', 'trunk/sips:sales@example.com;transport=tls', 'sales'],
    ['PJSIP', '1010/sip:x7f3k2q9@127.0.0.1:16002', undefined],
    ['PJSIP', '1010/sip:73301@127.0.0.1', undefined],
    ['PJSIP', 'trunk/sip:2001@127.0.0.1;line=x', undefined],
    ['PJSIP', '1010/sip:00441234567@host', '00441234567'],
    ['PJSIP', 'PJSIP/1003', undefined],
    ['SIP', 'SIP/1003', undefined],
    ['DAHDI', 'DAHDI/g1/0044', '0044'],
    ['DAHDI', 'g1/wW0044', '0044'],
    ['DAHDI', 'g1/w', undefined],
    ['PJSIP', 'trunk/sip:example.com', undefined],
    ['PJSIP', '2001/desk', undefined],
    ['SIP', '0044@trunk', '0044'],
    ['SIP', 'trunk/0044', '0044'],
    ['SIP', '0044:password@trunk', '0044'],
    ['IAX2', 'name:hidden@peer/0044@from-iax', '0044'],
    ['IAX2', 'name:hidden@peer', undefined],
    ['DAHDI', 'g1/0044', '0044'],
    ['DAHDI', '1', undefined],
    ['Local', '2001@inner/n', '2001'],
    ['Local', '2001@inner', '2001'],
    ['PJSIP', '@', undefined],
    ['PJSIP', '/', undefined],
  ])('of Dial(%s/%s) is %s', (technology, dialString, number) => {
    const endpoint = dialString.split('/', 1)[0] as string
    const called = { technology, endpoint, ownNumber: '2001' }
    const extension = dialString.includes('sales') ? 'sales' : '901234567'
    expect(dialledNumber(called, dialString, extension)).toBe(number)
  })
})

describe('the callee of a dialled leg', () => {
  const dial = (called: Parameters<typeof channel>[1], dialString: string) => {
    const { apply, trace } = createTracedMapping({ realmOf: () => 'acme.example' })
    apply(channelEvent('created', A), channelEvent('created', B, 0, { state: 0, ...called }))
    apply({
      kind: 'dialled',
      atMs: T0,
      caller: channel(A),
      called: channel(B, { state: 0, ...called }),
      status: '',
      dialString,
    })
    const [create] = trace().events.filter(({ callId }) => callId === B)
    return [create?.to, create?.request, create?.calleeIdNumber, create?.calleeIdName]
  }
  const ofTrunk = { name: 'PJSIP/trunk-0000001c', callerNumber: undefined }

  it('of a trunk is the dialled number, and not the number of the trunk', () => {
    const address = '0044@acme.example'
    expect(dial(ofTrunk, '0044@trunk')).toEqual([address, address, '0044', undefined])
    const named = { ...ofTrunk, callerNumber: '0049', callerName: 'Our company' }
    expect(dial(named, 'trunk/sip:0044@host')).toEqual([address, address, '0044', undefined])
  })

  it('of a phone is its own number, else the name of its endpoint', () => {
    const named = { name: 'PJSIP/alice-1', callerNumber: '2001', callerName: 'Alice' }
    expect(dial(named, 'alice')).toEqual(['2001@acme.example', '2001@acme.example', '2001', 'Alice'])
    expect(dial({ name: 'PJSIP/alice-1', callerNumber: undefined }, 'alice')).toEqual([
      ...['alice@acme.example', 'alice@acme.example', 'alice', undefined],
    ])
  })
})
