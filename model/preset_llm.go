package model

// llm is Simon Willison's llm. Its log is a database of its own, which is not written.
// A schema is asked for in words: not each of its models takes one.
var llm = preset{
	name: "llm", program: "llm",
	invoke: func(q question, _ scratch) (invocation, error) {
		args := append([]string{"prompt", "--no-log", "--no-stream"}, flag("--model", q.model)...)
		return invocation{args: args, stdin: prompt(q.Request, true, true)}, nil
	},
	read: func(out printed, _ scratch) reading { return reading{text: string(out.stdout)} },
}
