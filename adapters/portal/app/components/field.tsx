/** A field of a form with its name, its hint and what is wrong with it. */
import { type ComponentChildren, cloneElement, isValidElement, toChildArray, type VNode } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: ComponentChildren
  /** What belongs there. */
  readonly hint?: ComponentChildren
  /** What is wrong, in place of the hint; may contain a button that mends it. */
  readonly problem?: ComponentChildren
  /** The first element is the input, which gets the name and the description; others, such as buttons, stand beside it. */
  readonly children: ComponentChildren
}

export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId()
  const [input, ...others] = toChildArray(children)
  const isWrong = problem !== undefined && problem !== '' && problem !== false
  const note = isWrong ? problem : hint
  const hasNote = note !== undefined && note !== '' && note !== false
  const described = {
    id,
    'aria-describedby': hasNote ? `${id}-note` : undefined,
    'aria-invalid': isWrong || undefined,
  }
  return (
    <div class="ask">
      <label for={id}>{label}</label>
      <div class={isWrong ? 'field wrong' : 'field'}>
        {isValidElement(input) ? cloneElement(input as VNode<typeof described>, described) : input}
        {others}
      </div>
      {hasNote && (
        <p id={`${id}-note`} class={isWrong ? 'hint is-bad' : 'hint'}>
          {note}
        </p>
      )}
    </div>
  )
}
