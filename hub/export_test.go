package hub

// Extract is what a worker does with a transcript.
var Extract = (*Hub).extract
