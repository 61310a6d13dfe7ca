/** Which events a webhook gets: a list by meaning, or all of them. */
import { useSignal } from '@preact/signals'
import type { Hook } from 'hookswitch/client'
import { useId } from 'preact/hooks'
import { Icon } from '../components/icon.js'
import { Note } from '../components/panel.js'
import { Seg } from '../components/seg.js'
import { catalogue, kindHint, kindName } from '../state/kinds.js'
import { number, t } from '../state/translate.js'
import { groupEvents } from '../text/event-groups.js'
import type { FormState } from './form-state.js'

interface EventsFieldProps {
  readonly form: FormState
}

export function EventsField({ form }: EventsFieldProps) {
  const id = useId()
  const wanted = useSignal('')
  const { isAll, kinds } = form.values.value
  const reason = form.reasons.kinds
  return (
    <div class="ask" role="group" aria-labelledby={id} aria-describedby={reason && `${id}-reason`}>
      <div class="name" id={id}>
        {t('form.events')}
      </div>
      <div class="bar">
        <Seg
          label={t('form.events')}
          value={isAll ? 'all' : 'some'}
          onChange={(value) => form.set({ isAll: value === 'all' })}
          options={[
            { value: 'some', text: t('form.chosen'), ...(!isAll && { count: number(kinds.length) }) },
            { value: 'all', text: t('form.allEvents') },
          ]}
        />
        {!isAll && (
          <label class="field push">
            <Icon name="find" />
            <span class="hidden">{t('form.findEvent')}</span>
            <input
              type="search"
              placeholder={t('form.findEvent')}
              value={wanted.value}
              onInput={(event) => {
                wanted.value = event.currentTarget.value
              }}
            />
          </label>
        )}
      </div>
      {isAll ? (
        <Note icon="list">{t('form.allEventsText')}</Note>
      ) : (
        <Checklist form={form} wanted={wanted.value} />
      )}
      {reason !== undefined && (
        <p class="hint is-bad" id={`${id}-reason`}>
          {reason}
        </p>
      )}
    </div>
  )
}

function Checklist({ form, wanted }: EventsFieldProps & { readonly wanted: string }) {
  const { kinds } = form.values.value
  const offered = catalogue()
  const known = new Set(offered.map(({ id }) => id))
  // A kind that the service no longer has stays until somebody removes it.
  const gone = kinds.filter((id) => !known.has(id)).map((id) => ({ id, name: id, description: '' }))
  const text = wanted.trim().toLowerCase()
  const isFound = (kind: Hook) =>
    [kindName(kind.id), kindHint(kind), kind.id].some((part) => part.toLowerCase().includes(text))
  const groups = groupEvents([...offered, ...gone])
    .map((group) => ({ ...group, found: group.kinds.filter(isFound) }))
    .filter(({ found }) => found.length > 0)
  if (groups.length === 0) return <Note icon="find">{t('form.noEventFound')}</Note>
  return (
    <div class="checks">
      {groups.map(({ name, kinds: all, found }) => [
        <div class="group" key={name}>
          {t(`event.group.${name}`)}
          <span class="push faint">
            {t('form.chosenOf', {
              chosen: all.filter(({ id }) => kinds.includes(id)).length,
              all: all.length,
            })}
          </span>
        </div>,
        ...found.map((kind) => <Check key={kind.id} form={form} kind={kind} />),
      ])}
    </div>
  )
}

function Check({ form, kind }: { readonly form: FormState; readonly kind: Hook }) {
  const { kinds } = form.values.value
  const hint = kindHint(kind)
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={kinds.includes(kind.id)}
        onChange={(event) =>
          form.set({
            kinds: event.currentTarget.checked ? [...kinds, kind.id] : kinds.filter((id) => id !== kind.id),
          })
        }
      />
      <span>
        <b>{kindName(kind.id)}</b>
        {hint !== '' && <span class="hint">{hint}</span>}
      </span>
      <code>{kind.id}</code>
    </label>
  )
}
