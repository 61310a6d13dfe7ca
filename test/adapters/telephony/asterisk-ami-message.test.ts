import { describe, expect, it } from 'vitest'
import { isRead } from '../../../adapters/telephony/asterisk/ami-happening.js'
import { amiMessage, eventOf, unescaped } from '../../../adapters/telephony/asterisk/ami-message.js'
import { amiTexts, legOf } from './asterisk-stories.js'

const channelEvents = (of: string, name: string) =>
  amiTexts.filter((text) => text.startsWith(`Event: ${name}\r\n`) && text.includes(of))

describe('a message of AMI', () => {
  it('ChanVariable is repeated in one event, of each of its channels', () => {
    const [dial] = channelEvents('a01-caller-hangup-1', 'DialBegin')
    const message = amiMessage(Buffer.from(`${dial}\r\n`))
    expect(message.variable('ACCOUNT_ID')).toBe('alpha')
    expect(message.variable('SIPCALLID')).toBe('a01-caller-hangup-1')
    expect(message.variable('SIPCALLID', 'Dest')).toBe(legOf('a01-caller-hangup-1'))
    expect(message.variable('NONE')).toBeUndefined()
  })

  it('the variables of an answer to Originate have their channel in the key', () => {
    const [response] = channelEvents('originate-1', 'OriginateResponse')
    const message = amiMessage(Buffer.from(`${response}\r\n`))
    expect(response).toContain('ChanVariable(PJSIP/2013-0000003e): ACCOUNT_ID=alpha')
    expect(message.variable('ACCOUNT_ID')).toBe('alpha')
    expect(message.variable('SIPCALLID')).toBeUndefined()
  })

  it('a bare LF is part of a value', () => {
    const parked = amiTexts.find((text) => text.includes('Park successful'))!
    expect(amiMessage(Buffer.from(`${parked}\r\n`)).get('Message')).toBe('Park successful\n')
  })

  it('<unknown> and an empty value are none', () => {
    const [first] = channelEvents('1795174204.0', 'Newchannel')
    const message = amiMessage(Buffer.from(`${first}\r\n`))
    expect([message.get('ConnectedLineNum'), message.variable('ACCOUNT_ID')]).toEqual([undefined, undefined])
  })

  it('undoes every escape of C that AMI makes', () => {
    expect(unescaped('O\\\'Brien \\"x\\" who\\? a\\\\b\\nc')).toBe('O\'Brien "x" who? a\\b\nc')
  })

  it('lines of a list look like events and are none', () => {
    const lines = amiTexts.filter((text) => text.startsWith('Event: CoreShowChannel\r\n'))
    expect(lines).toHaveLength(8)
    expect(lines.every((text) => !isRead(eventOf(Buffer.from(text))))).toBe(true)
  })

  it('needs nothing but the class call, which is half of the stream', () => {
    const used = amiTexts.filter((text) => isRead(eventOf(Buffer.from(text))))
    expect(used.length).toBeGreaterThan(600)
    expect(used.every((text) => text.includes('\r\nPrivilege: call,all\r\n'))).toBe(true)
    expect(
      amiTexts.filter((text) => text.startsWith('Event: VarSet')).length / amiTexts.length,
    ).toBeGreaterThan(0.4)
  })
})
